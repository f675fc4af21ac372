package diagnose_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// front stands between the clients and the engine.
type front func(t *testing.T, engine http.Handler) http.Handler

// completion tells that a request asks for an answer.
func completion(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/completions") }

// fronted gives completions to answer, which may pass them on, and the rest to the
// engine. n counts completions from 1.
func fronted(answer func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request)) front {
	return func(_ *testing.T, engine http.Handler) http.Handler {
		var n atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if completion(r) {
				answer(n.Add(1), engine, w, r)
			} else {
				engine.ServeHTTP(w, r)
			}
		})
	}
}

// hold keeps a request for some time, or until the client hangs up.
func hold(r *http.Request, d time.Duration) {
	raw, err := io.ReadAll(r.Body) // a server notices a hang-up only after the body
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// delayed is a gateway that holds every n-th request back for some time.
func delayed(every int64, d time.Duration) front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if n%every == 0 {
			hold(r, d)
		}
		engine.ServeHTTP(w, r)
	})
}

// staggered holds requests back, each of four in a row by a further step.
func staggered(least, step time.Duration) front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		hold(r, least+time.Duration(n%4)*step)
		engine.ServeHTTP(w, r)
	})
}

// refusing answers every n-th request with an error.
func refusing(every int64, status int, message string) front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if n%every != 0 {
			engine.ServeHTTP(w, r)
			return
		}
		body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": message}})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

// buffering is a proxy that hands an answer on when it is complete.
func buffering() front {
	return fronted(func(_ int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		held := &heldAnswer{header: w.Header()}
		engine.ServeHTTP(held, r)
		_, _ = w.Write(held.Bytes())
	})
}

// heldAnswer collects an answer.
type heldAnswer struct {
	bytes.Buffer
	header http.Header
}

func (h *heldAnswer) Header() http.Header { return h.header }
func (h *heldAnswer) WriteHeader(int)     {}
func (h *heldAnswer) Flush()              {}

// rewriting changes the fields of every request's body.
func rewriting(change func(body map[string]any)) front {
	return fronted(func(_ int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		body := map[string]any{}
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		change(body)
		raw, _ = json.Marshal(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		engine.ServeHTTP(w, r)
	})
}

// neighbours are other clients of the same engine: each sends one request after the
// other with a rest in between, until the scenario ends.
func (s *stage) neighbours(clients, in, out int, rest time.Duration) {
	prompts := prompt.NewSynthetic(prompt.Unique, 99)
	for range clients {
		go func() {
			for s.Context().Err() == nil {
				body, _ := json.Marshal(map[string]any{
					"messages":   []map[string]string{{"role": "user", "content": prompts.Next(in).Text}},
					"max_tokens": out, "ignore_eos": true, "stream": true,
				})
				r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
				if err != nil {
					return
				}
				s.rig.Engine.Handler().ServeHTTP(&heldAnswer{header: http.Header{}}, r)
				select {
				case <-time.After(rest):
				case <-s.Context().Done():
				}
			}
		}()
	}
}

// twin is a second replica, which takes every n-th request.
func twin(every int64, options sim.Options) front {
	return func(t *testing.T, first http.Handler) http.Handler {
		second := another(t, options)
		return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
			if n%every == 0 {
				engine = second
			}
			engine.ServeHTTP(w, r)
		})(t, first)
	}
}

// restarting puts a new engine in the place of the first at an instant after the
// beginning.
func restarting(after time.Duration, options sim.Options) front {
	return func(t *testing.T, first http.Handler) http.Handler {
		second, at := another(t, options), time.Now().Add(after)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(at) {
				first.ServeHTTP(w, r)
			} else {
				second.ServeHTTP(w, r)
			}
		})
	}
}

// another is a further engine, which runs until the test ends.
func another(t *testing.T, options sim.Options) http.Handler {
	options.VirtualTime = true
	engine, err := sim.New(options)
	if err != nil {
		t.Fatal(err)
	}
	engine.Start(t.Context())
	return engine.Handler()
}
