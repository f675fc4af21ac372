package diagnose_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// front stands between the clients and the engine.
type front func(t *testing.T, engine http.Handler) http.Handler

// frontSpec says which one.
type frontSpec struct {
	Kind        string
	Every, Only int64 // which completions it concerns, counted from 1; 0: all
	From        int64
	For, Step   duration
	Status      int
	Message     string
	Fields      []string
	Engine      engineSpec
}

func (f *frontSpec) before(t *testing.T, engine http.Handler) http.Handler {
	var stands front
	switch f.Kind {
	case "":
		return engine
	case "delay":
		stands = f.delayed()
	case "silence":
		stands = f.silent()
	case "refuse":
		stands = f.refusing()
	case "buffer":
		stands = buffering()
	case "drop fields":
		stands = f.rewriting()
	case "count a quarter":
		stands = countingLess()
	case "second replica":
		stands = f.twin()
	case "stuck counters":
		stands = stuckCounters
	case "restart":
		stands = f.restarting()
	default:
		t.Fatalf("unknown front %q", f.Kind)
	}
	return stands(t, engine)
}

// concerns reports whether the n-th completion is one that the front treats.
func (f *frontSpec) concerns(n int64) bool {
	return n >= f.From && (f.Only == 0 || n == f.Only) && (f.Every == 0 || n%f.Every == 0)
}

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

// delayed is a gateway that holds requests back for some time, each of four in a row
// by a further step.
func (f *frontSpec) delayed() front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if f.concerns(n) {
			hold(r, f.For.Duration+time.Duration(n%4)*f.Step.Duration)
		}
		engine.ServeHTTP(w, r)
	})
}

// silent takes requests and does not answer them.
func (f *frontSpec) silent() front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if f.concerns(n) {
			hold(r, time.Hour)
			return
		}
		engine.ServeHTTP(w, r)
	})
}

// refusing answers with an error.
func (f *frontSpec) refusing() front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if !f.concerns(n) {
			engine.ServeHTTP(w, r)
			return
		}
		body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": f.Message}})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
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

// rewriting drops fields of every request's body.
func (f *frontSpec) rewriting() front {
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
		for _, name := range f.Fields {
			delete(body, name)
		}
		raw, _ = json.Marshal(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		engine.ServeHTTP(w, r)
	})
}

// countingLess is a server whose usage leaves out three of four tokens.
func countingLess() front {
	return fronted(func(_ int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		engine.ServeHTTP(quarter{w}, r)
	})
}

type quarter struct{ http.ResponseWriter }

var completionTokens = regexp.MustCompile(`("completion_tokens": ?)(\d+)`)

func (q quarter) Write(p []byte) (int, error) {
	_, err := q.ResponseWriter.Write(completionTokens.ReplaceAllFunc(p, func(m []byte) []byte {
		of := completionTokens.FindSubmatch(m)
		n, _ := strconv.Atoi(string(of[2]))
		return strconv.AppendInt(bytes.Clone(of[1]), int64(n/4), 10)
	}))
	return len(p), err
}

func (q quarter) Flush() { q.ResponseWriter.(http.Flusher).Flush() }

func (s *stage) neighbours(n neighbours) {
	prompts := prompt.NewSynthetic(prompt.Unique, 99)
	for range n.Clients {
		go func() {
			for s.Context().Err() == nil {
				body, _ := json.Marshal(map[string]any{
					"messages":   []map[string]string{{"role": "user", "content": prompts.Next(n.In).Text}},
					"max_tokens": n.Out, "ignore_eos": true, "stream": true,
				})
				r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
				if err != nil {
					return
				}
				s.rig.Engine.Handler().ServeHTTP(&heldAnswer{header: http.Header{}}, r)
				select {
				case <-time.After(n.Rest.Duration):
				case <-s.Context().Done():
				}
			}
		}()
	}
}

// twin is a second replica, which takes every n-th request.
func (f *frontSpec) twin() front {
	return func(t *testing.T, first http.Handler) http.Handler {
		second := another(t, f.Engine.options(t))
		return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
			if f.concerns(n) {
				engine = second
			}
			engine.ServeHTTP(w, r)
		})(t, first)
	}
}

// restarting puts a new engine in the place of the first at an instant after the
// beginning.
func (f *frontSpec) restarting() front {
	return func(t *testing.T, first http.Handler) http.Handler {
		second, at := another(t, f.Engine.options(t)), time.Now().Add(f.For.Duration)
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

var profiling = regexp.MustCompile(`(?m)^(DCGM_FI_PROF_\S+\{.*\}) \S+$`)

// stuckCounters is an exporter whose profiling counters stay at 0.
func stuckCounters(_ *testing.T, engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			engine.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding") // to read the page as text
		page := httptest.NewRecorder()
		engine.ServeHTTP(page, r)
		maps.Copy(w.Header(), page.Header())
		w.WriteHeader(page.Code)
		_, _ = w.Write(profiling.ReplaceAll(page.Body.Bytes(), []byte("$1 0")))
	})
}
