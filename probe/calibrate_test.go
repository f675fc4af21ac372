package probe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sonde/probe"
	"sonde/probe/prompt"
)

// ollamaServer counts a token for every word of a prompt, and twenty for its
// template. It has no tokenizer that could be asked.
func ollamaServer(t *testing.T, begun func()) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"tiny","object":"model","created":1,"owned_by":"library"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		begun()
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n")
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", 20+len(strings.Fields(string(body))))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// What goes before the load is told before it goes: a slow server takes a while.
func TestCalibrationIsAnnounced(t *testing.T) {
	var s *probe.Session
	var requests atomic.Int32
	var announced atomic.Bool
	server := ollamaServer(t, func() {
		if requests.Add(1) == 1 {
			announced.Store(hasNote(s, "the load begins after up to 4 requests"))
		}
	})
	var err error
	s, err = probe.New(probe.Options{
		URL: server.URL, API: "chat", GPU: "off", Metrics: "off", MaxConcurrency: 4,
		Prompts: prompt.NewSynthetic(prompt.Unique, 1), Load: probe.Load{Concurrency: 1, InputTokens: 100, OutputTokens: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Start(ctx)
	defer s.Close()
	if err := s.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	s.Calibrate(ctx, false)
	if n := requests.Load(); !announced.Load() || n == 0 || n > 4 {
		t.Errorf("%d requests, announced before the first: %v", n, announced.Load())
	}
	if !hasNote(s, "calibration requests fitted") {
		t.Error("no word of the requests that were sent")
	}
}

// hasNote waits for the next Frames to carry a note.
func hasNote(s *probe.Session, begins string) bool {
	for range s.Tick() {
		for _, f := range s.Since(0) {
			for _, e := range f.Events {
				if e.Kind == probe.EventNote && strings.Contains(e.Text, begins) {
					return true
				}
			}
		}
		if frames := s.Since(0); len(frames) > 12 {
			return false
		}
	}
	return false
}
