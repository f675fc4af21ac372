package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sonde/probe"
	"sonde/probe/frame"
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
	s = begun(t, server.URL)
	ctx := t.Context()
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
				if e.Kind == frame.EventNote && strings.Contains(e.Text, begins) {
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

// While the prompt length is fitted, every Frame says so; after that none does.
func TestFramesTellWhatGoesBeforeTheLoad(t *testing.T) {
	var s *probe.Session
	during := make(chan frame.Stage, 1)
	server := ollamaServer(t, func() {
		select {
		case during <- stageOf(s):
		default:
		}
	})
	s = begun(t, server.URL)
	if got := stageOf(s); got != frame.StageConnecting {
		t.Errorf("before Connect: stage %d, want %d", got, frame.StageConnecting)
	}
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Calibrate(t.Context(), false)
	s.Begin()
	if got := <-during; got != frame.StageFitting {
		t.Errorf("while a calibration request runs: stage %d, want %d", got, frame.StageFitting)
	}
	if got := stageOf(s); got != frame.StageLoad {
		t.Errorf("under load: stage %d, want %d", got, frame.StageLoad)
	}
}

// Who presses stop while the load is still prepared gets none.
func TestStopBeforeTheLoadBegins(t *testing.T) {
	s := begun(t, ollamaServer(t, func() {}).URL)
	s.SetLoad(s.Load()) // concurrency 0, once more
	if got := stageOf(s); got != frame.StageLoad {
		t.Errorf("stage %d although no load is waited for", got)
	}
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Begin()
	if n := s.Load().Concurrency; n != 0 {
		t.Errorf("%d streams run although none were wanted", n)
	}
}

// begun is a Session that has started and not yet connected.
func begun(t *testing.T, url string) *probe.Session {
	t.Helper()
	s, err := probe.New(probe.Options{
		URL: url, API: "chat", GPU: "off", Metrics: "off", MaxConcurrency: 4,
		Prompts: prompt.NewSynthetic(prompt.Unique, 1), Load: frame.Load{Concurrency: 1, InputTokens: 100, OutputTokens: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	t.Cleanup(s.Close)
	return s
}

// stageOf waits for the next but one Frame, which knows all of this moment.
func stageOf(s *probe.Session) frame.Stage {
	for range 2 {
		<-s.Tick()
	}
	all := s.Since(0)
	return all[len(all)-1].Load.Stage
}
