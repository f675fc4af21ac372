package scrape

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server sends a user elsewhere, and repeats all that it was given.
func TestServersWordsAreFreeOfSecrets(t *testing.T) {
	const key = "sk-demo-000111222333"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+key))
	for name, tt := range map[string]struct {
		config Config
		repeat string
	}{
		"key":               {Config{Header: http.Header{"Authorization": {"Bearer " + key}}}, key},
		"whole header":      {Config{Header: http.Header{"Authorization": {"Bearer " + key}}}, "Bearer/" + key},
		"end of the key":    {Config{Header: http.Header{"Authorization": {"Bearer " + key}}}, "11222333"},
		"own header":        {Config{Header: http.Header{"X-Own": {key}}}, key},
		"password":          {Config{Header: http.Header{"Authorization": {basic}}}, key},
		"encoded password":  {Config{Header: http.Header{"Authorization": {basic}}}, strings.TrimPrefix(basic, "Basic ")},
		"query":             {Config{Query: "api-version=2024-06-01&k=" + key}, key},
		"escaped query":     {Config{Query: "k=%73k-demo-000111222333"}, key},
		"value without key": {Config{Query: key}, key},
	} {
		server := serve(t, map[string]reply{"/v1/models": {status: 302, header: map[string]string{"Location": "http://elsewhere.invalid/" + tt.repeat}}})
		tt.config.Base = server.URL
		_, err := Detect(t.Context(), tt.config)
		want := server.URL + "/v1/models redirects to http://elsewhere.invalid/"
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "11222333") || strings.Contains(err.Error(), tt.repeat) {
			t.Errorf("%s: %v\nwant %s… without %s", name, err, want, tt.repeat)
		}
	}
}

func TestShortValuesAndVersionsStay(t *testing.T) {
	c := Config{Query: "api-version=2024-06-01&x=models", Header: http.Header{"Host": {"gpu-box.example"}}}
	const text = "gpu-box.example has no models of 2024-06-01"
	if got := c.hide(text); got != text {
		t.Errorf("%q, want %q", got, text)
	}
}

func TestARefusedKeyIsSaidToBeRefused(t *testing.T) {
	bearer := http.Header{"Authorization": {"Bearer K"}}
	for _, tt := range []struct {
		config Config
		status int
		want   string
	}{
		{Config{Header: bearer, KeyFrom: "the variable OPENAI_API_KEY"}, 401, "refuses the key from the variable OPENAI_API_KEY (401): is it the right one for this server?"},
		{Config{Header: bearer, KeyFrom: "--api-key"}, 403, "refuses the key from --api-key (403): is it allowed to read this?"},
		{Config{Header: http.Header{"X-Api-Key": {"K"}}}, 401, "refuses the key in the header x-api-key (401): is it the right one for this server?"},
		{Config{Header: http.Header{"Authorization": {"Basic dTpw"}}}, 401, "refuses the given user and password (401): is it the right one for this server?"},
		{Config{Header: http.Header{"X-Team": {"a"}}}, 401, "wants a key (401): give --api-key"},
		{Config{}, 403, "wants a key (403): give --api-key"},
	} {
		server := serve(t, map[string]reply{"/v1/models": {status: tt.status}})
		tt.config.Base = server.URL
		_, err := Detect(t.Context(), tt.config)
		if want := server.URL + "/v1/models " + tt.want; err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestAPageThatRefusesTheKey(t *testing.T) {
	server := serve(t, map[string]reply{"/v1/models": list1("vllm"), "/metrics": {status: 401}})
	id, err := Detect(t.Context(), Config{Base: server.URL, Header: http.Header{"Authorization": {"Bearer K"}}, KeyFrom: "--api-key"})
	if want := server.URL + "/metrics refuses the key from --api-key (401): is it the right one for this server?"; err != nil || id.MetricsWhy != want {
		t.Errorf("%q, %v, want %q", id.MetricsWhy, err, want)
	}
	elsewhere := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	f := newFetcher(Config{Base: server.URL, Header: http.Header{"Authorization": {"Bearer K"}}})
	a, err := f.page(t.Context(), elsewhere+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	want := elsewhere + "/metrics wants a key (401), and the given one is for another host: give an address that needs none with --metrics"
	if got := newFetcher(Config{}).pageRefusal(a, nil); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The name of the server goes to every page of the server and nowhere else.
func TestHostHeader(t *testing.T) {
	hosts := make(chan string, 100)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.URL.Path + " " + r.Host
		_, _ = w.Write([]byte(list1("vllm").body))
	})
	first, second := httptest.NewServer(handler), httptest.NewServer(handler)
	t.Cleanup(first.Close)
	t.Cleanup(second.Close)
	server, other := first.URL, second.URL
	f := newFetcher(Config{Base: server, Header: http.Header{"Host": {"llm.example"}}})
	for _, c := range []call{forJSON(server+"/v1/models", listTimeout), {address: server + "/metrics", limit: 1000, timeout: probeTimeout}, {address: other + "/metrics", limit: 1000, timeout: probeTimeout}} {
		if _, err := f.send(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"/v1/models llm.example", "/metrics llm.example", "/metrics " + strings.TrimPrefix(other, "http://")} {
		if got := <-hosts; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}
