package scrape

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// loading is what llama.cpp answers everywhere while it loads its model.
var loading = reply{status: 503, file: "probe-llamacpp-loading.json.txt"}

func TestModelListFailures(t *testing.T) {
	tests := []struct {
		name        string
		page        reply
		class, says string
	}{
		{"no key", reply{status: 401}, "http_4xx", "HOST/v1/models wants a key (401): give --api-key"},
		{"HTML", reply{body: "<!doctype html>"}, "bad_reply", "HOST/v1/models answers HTML, not JSON: is this the address of an OpenAI-compatible server?"},
		{"text", reply{body: "ok"}, "bad_reply", "HOST/v1/models answers not JSON: is this the address of an OpenAI-compatible server?"},
		{"an error with 200", reply{body: `{"error":"Unexpected endpoint"}`}, "bad_reply", "HOST/v1/models answers JSON without a model list: is this the address of an OpenAI-compatible server?"},
		{"loading", loading, "loading", "HOST is still loading its model (503): wait until it is up"},
		{"down", reply{status: 502}, "http_5xx", "HOST/v1/models answers 502 Bad Gateway: check the server's log"},
		{"too many requests", reply{status: 429}, "rate_limited", "HOST/v1/models answers 429 Too Many Requests: check the server's log"},
		{"another host", reply{status: 302, header: map[string]string{"Location": "http://elsewhere.invalid/login?token=x"}}, "redirect",
			"HOST/v1/models redirects to a login page, http://elsewhere.invalid/login: give a key with --api-key, or an address of the API that needs no login"},
		{"nothing there", reply{status: 404}, "http_4xx", "no model list at HOST/v1/models (404): is this the address of an OpenAI-compatible server?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, map[string]reply{"/v1/models": tt.page})
			_, err := Detect(t.Context(), Config{Base: server.URL, Query: "key=secret"})
			var failed *ListError
			if !errors.As(err, &failed) {
				t.Fatalf("err = %v, want a *ListError", err)
			}
			says := strings.ReplaceAll(failed.Says, server.URL, "HOST")
			says = strings.ReplaceAll(says, strings.TrimPrefix(server.URL, "http://"), "HOST")
			if string(failed.Class) != tt.class || says != tt.says {
				t.Errorf("%s: %s\nwant %s: %s", failed.Class, says, tt.class, tt.says)
			}
		})
	}
}

func TestUnreachableServers(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it will log the refused handshake
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := serve(t, nil)
	tests := []struct{ name, base, class, says string }{
		{"refused", "http://" + host, "connect", "connection refused by " + host + ": is the server up, is the port right?"},
		{"untrusted", secure.URL, "tls", "the certificate of " + strings.TrimPrefix(secure.URL, "https://") + `, issued by "O=Acme Co" (self-signed), is not trusted: give its CA with --ca FILE, or skip the check with --insecure`},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "tls", strings.TrimPrefix(plain.URL, "http://") + " does not speak TLS: use http://"},
	}
	for _, tt := range tests {
		_, err := Detect(t.Context(), Config{Base: tt.base})
		var failed *ListError
		if !errors.As(err, &failed) || string(failed.Class) != tt.class || failed.Says != tt.says {
			t.Errorf("%s: %v, want %s: %s", tt.name, err, tt.class, tt.says)
		}
	}
}

func TestExplain(t *testing.T) {
	const address = "http://user:secret@gpu-box:8000/v1/models?key=secret"
	tests := []struct {
		err         error
		class, says string
	}{
		{context.DeadlineExceeded, "timeout", "no answer from http://gpu-box:8000/v1/models within 2s"},
		{context.Canceled, "cancelled", "cancelled while waiting for gpu-box:8000"},
		{&net.DNSError{Err: "no such host", Name: "gpu-box"}, "connect", "unknown host gpu-box: check the name"},
		{errors.New("network is unreachable"), "connect", "cannot reach gpu-box:8000: network is unreachable"},
	}
	for _, tt := range tests {
		if class, says := newFetcher(Config{}).explain(address, tt.err, 2*time.Second); string(class) != tt.class || says != tt.says {
			t.Errorf("%v: %s: %s\nwant %s: %s", tt.err, class, says, tt.class, tt.says)
		}
	}
}

// Somebody listens and never answers: the sentence about the model list has a way out.
func TestListWithoutAnAnswerHasAWayOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := newFetcher(Config{Base: server.URL}).modelsAt(ctx, server.URL+"/v1/models")
	if err == nil || !strings.HasSuffix(err.Error(), ": is the server stuck, is the port right?") {
		t.Errorf("%v", err)
	}
}

func TestWithoutAModelListTheEngineIsStillFound(t *testing.T) {
	server := serve(t, map[string]reply{"/metrics": {body: "vllm:num_requests_running 1\n"}})
	got, err := Detect(t.Context(), Config{Base: server.URL, Model: "m"})
	if err == nil || got.Kind != "vllm" || got.Model != "m" || got.MetricsURL != server.URL+"/metrics" {
		t.Errorf("identity %+v, error %v; want vLLM, and the error about the list", got, err)
	}
}

// keyed answers with 401 without a key, and remembers where a key was sent.
func keyed(t *testing.T, redirect string) (server *httptest.Server, keys func() []string) {
	t.Helper()
	asked := make(chan string, 100)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hasKey := r.Header.Get("X-Api-Key") == "secret"
		if hasKey {
			asked <- r.URL.Path
		}
		switch {
		case r.URL.Path == "/metrics" && redirect != "":
			http.Redirect(w, r, redirect, http.StatusTemporaryRedirect)
		case !hasKey:
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/metrics"):
			_, _ = w.Write([]byte("vllm:num_requests_running 1\n"))
		default:
			_, _ = w.Write([]byte(list1("vllm").body))
		}
	}))
	t.Cleanup(server.Close)
	return server, func() []string {
		close(asked)
		var out []string
		for path := range asked {
			out = append(out, path)
		}
		return out
	}
}

func header() http.Header { return http.Header{"X-Api-Key": {"secret"}} }

func TestKeyGoesToThePageOnlyWhenAskedFor(t *testing.T) {
	for name, redirect := range map[string]string{"directly": "", "after a redirect on the host": "/metrics/"} {
		server, keys := keyed(t, redirect)
		got, err := Detect(t.Context(), Config{Base: server.URL, Header: header()})
		if err != nil || got.MetricsURL != server.URL+"/metrics" {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if k := keys(); !slices.Contains(k, "/v1/models") || !slices.ContainsFunc(k, func(p string) bool { return strings.HasPrefix(p, "/metrics") }) {
			t.Errorf("%s: key sent to %q, want the list and, after a 401, the page", name, k)
		}
	}
}

func TestKeyNeverGoesToAnotherHost(t *testing.T) {
	other, otherKeys := keyed(t, "")
	// Another name for the same machine is another host.
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	server, _ := keyed(t, elsewhere+"/metrics")
	if _, err := Detect(t.Context(), Config{Base: server.URL, Header: header()}); err != nil {
		t.Fatal(err)
	}
	if _, err := Detect(t.Context(), Config{Base: server.URL, Header: header(), MetricsURL: elsewhere}); err != nil {
		t.Fatal(err)
	}
	if k := otherKeys(); len(k) > 0 {
		t.Errorf("key sent to another host: %q", k)
	}
}
