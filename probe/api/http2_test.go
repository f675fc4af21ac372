package api

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
)

// speaking serves with the given protocols.
func speaking(t *testing.T, secure bool, protocols func(*http.Protocols), handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	protocols(s.Config.Protocols)
	if secure {
		s.TLS = &tls.Config{NextProtos: []string{"h2"}}
		if s.Config.Protocols.HTTP1() {
			s.TLS.NextProtos = []string{"h2", "http/1.1"}
		}
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func clearHTTP2(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }

// A server that speaks only HTTP/2 is spoken to in it, one that speaks both in HTTP/1.1.
// The prompt of 300,000 bytes is larger than the window that the server opens at first.
func TestHTTP2(t *testing.T) {
	for _, c := range []struct {
		name      string
		secure    bool
		protocols func(*http.Protocols)
		want      string
	}{
		{"without TLS", false, clearHTTP2, "HTTP/2.0"},
		{"TLS", true, func(p *http.Protocols) { p.SetHTTP2(true) }, "HTTP/2.0"},
		{"both without TLS", false, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true); p.SetHTTP1(true) }, "HTTP/1.1"},
		{"both with TLS", true, func(p *http.Protocols) { p.SetHTTP2(true); p.SetHTTP1(true) }, "HTTP/1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spoken := make(chan string, 8)
			server := speaking(t, c.secure, c.protocols, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				spoken <- fmt.Sprint(r.Proto, " ", r.Header.Get("Authorization"), " ", r.URL.Path, " ", r.ContentLength > 300_000)
				streaming(w, r)
			})
			client := real(t, server.URL, func(o *Options) { o.TLS, o.APIKey = &tls.Config{InsecureSkipVerify: true}, "k" })
			for nth := range 3 {
				res := client.Do(context.Background(), Call{Text: strings.Repeat("word ", 60_000)}, quiet{})
				if res.Class != measure.OK || res.Chunks != 3 || res.InTokens != 4 || res.Status != 200 || res.Reused != (nth > 0) {
					t.Fatalf("%q (%s): %+v", res.Class, res.Error, res.Request)
				}
				if got, want := <-spoken, c.want+" Bearer k /v1/chat/completions true"; got != want {
					t.Errorf("the server saw %q, want %q", got, want)
				}
			}
			note := slices.Contains(client.Notes(), "over HTTP/2: the server does not speak HTTP/1.1")
			if note != (c.want == "HTTP/2.0") {
				t.Errorf("notes %q", client.Notes())
			}
		})
	}
}

// A token is stamped after it was sent, and before what comes after it was sent.
func TestStampsOfHTTP2(t *testing.T) {
	sent, next := make(chan time.Time, 2), make(chan struct{}, 2)
	server := speaking(t, false, clearHTTP2, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", "b"} {
			sent <- time.Now()
			fmt.Fprint(w, content(token))
			w.(http.Flusher).Flush()
			<-next
		}
		fmt.Fprint(w, finished("stop")+doneMark)
	})
	client := real(t, server.URL, nil)
	res := client.Do(context.Background(), Call{Text: "x"}, eachToken{next})
	if res.Class != measure.OK || res.Chunks != 2 {
		t.Fatalf("%q (%s)", res.Class, res.Error)
	}
	a, b := (<-sent).Sub(client.opt.Epoch), (<-sent).Sub(client.opt.Epoch)
	if res.First < a || res.First > b || res.Last < b {
		t.Errorf("tokens sent at %v and %v are stamped %v and %v", a, b, res.First, res.Last)
	}
}

// eachToken lets the server go on after every token.
type eachToken struct{ next chan<- struct{} }

func (eachToken) Sent(time.Duration) {}

func (e eachToken) Token(_, _ time.Duration, _ int) { e.next <- struct{}{} }

// Refusals, and streams that the server ends, are errors of the request alone.
func TestErrorsOverHTTP2(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		class   measure.Class
		says    string
	}{
		"refused":       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "full", 429) }, measure.StatusClass(429), "429: full"},
		"refused early": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(413) }, measure.HTTP4xx, "413"},
		"ended too soon": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, content("a"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, measure.ConnectionLost, "HTTP/2"},
	} {
		t.Run(name, func(t *testing.T) {
			server := speaking(t, false, clearHTTP2, c.handler)
			client := real(t, server.URL, nil)
			for range 2 {
				res := client.Do(context.Background(), Call{Text: strings.Repeat("word ", 60_000)}, quiet{})
				if res.Class != c.class || !strings.Contains(res.Error, c.says) {
					t.Errorf("%q: %s", res.Class, res.Error)
				}
			}
		})
	}
}
