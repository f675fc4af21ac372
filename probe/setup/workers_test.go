package setup

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sonde/config"
	"sonde/probe/crew"
	"sonde/probe/frame"
)

// The address of a share comes from NATS, where others may write: the worker's key and headers go there only if
// its own command line names it.
func TestSecretsOfAWorkerGoOnlyToItsOwnURL(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Header.Get("Authorization")+r.Header.Get("X-Tenant")] = true
		mu.Unlock()
		if r.URL.Path == "/v1/models" {
			_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m"}]}`))
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	job := crew.Job{URL: server.URL, API: "chat", MaxConcurrency: 8, Idle: time.Second, Load: frame.Load{InputTokens: 8, OutputTokens: 2}}
	for _, c := range []struct{ url, secret string }{{"", ""}, {server.URL, "Bearer sk-test-demo-000111222333acme"}} {
		clear(seen)
		own := config.Config{URL: c.url, APIKey: "sk-test-demo-000111222333", Headers: []config.Header{{Name: "X-Tenant", Value: "acme"}}, API: "chat", Prefix: "unique"}
		s, err := openShare(context.Background(), own, job)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if len(seen) != 1 || !seen[c.secret] {
			t.Errorf("with the worker's URL %q the server saw %v, want only %q", c.url, seen, c.secret)
		}
	}
}
