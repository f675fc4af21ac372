package setup

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/config"
)

// endpoint is a server of one model that remembers the credentials of the last request.
type endpoint struct {
	*httptest.Server
	authorization atomic.Pointer[string]
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("Authorization") + r.Header.Get("X-Team")
		e.authorization.Store(&got)
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		case "/v1/chat/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// A target gets its own credentials, an address that a scraper names gets none, and no page
// shows any.
func TestCredentialsOfACanary(t *testing.T) {
	own, other := newEndpoint(t), newEndpoint(t)
	c := config.Config{URL: strings.Replace(own.URL, "http://", "http://user:password1@", 1), API: "chat", APIKey: "sk-secret-0001",
		Headers: []config.Header{{Name: "X-Team", Value: "blue-team"}}, Listen: "127.0.0.1:0"}
	c.Canary = config.Canary{Every: 10 * time.Second, Timeout: 30 * time.Second, Input: 16, Output: 16, ProbeAny: true, Name: "own"}
	base := c
	base.Canary.Each = []config.Config{c}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k, err := OpenCanary(ctx, base, "v", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		resp, err := http.Get(strings.TrimSuffix(k.Metrics, "/metrics") + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	pages := get("/probe?target=own")
	if got := *own.authorization.Load(); got != "Bearer sk-secret-0001blue-team" || !strings.Contains(pages, "probe_success 1") {
		t.Errorf("own target: %q\n%s", got, pages)
	}
	page := get("/probe?target=" + url.QueryEscape(other.URL))
	if got := *other.authorization.Load(); got != "" || !strings.Contains(page, "probe_success 1") {
		t.Errorf("another address: %q\n%s", got, page)
	}
	pages += page + get("/") + get("/metrics")
	for _, secret := range []string{"sk-secret-0001", "password1", "blue-team"} {
		if strings.Contains(pages, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	if !strings.Contains(pages, `sonde_up{endpoint="`+own.URL+`",model="m"} 1`) || strings.Contains(get("/metrics"), other.URL) {
		t.Errorf("the metrics are not those of the target alone:\n%s", pages)
	}
}
