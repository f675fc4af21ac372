package probe_test

import (
	"encoding/json"
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

// A server with a small vocabulary, no tokenizer to ask, and a template of 41 tokens: four
// requests of one token fit the length, and no prompt is more than a token off.
func TestEveryPromptIsFittedByUsage(t *testing.T) {
	count := func(text string) int { // a blank, a syllable, two letters that are in none
		n := 41
		for _, part := range []string{" ", "a", "e", "i", "o", "u", "ght", "st"} {
			n += strings.Count(text, part)
		}
		return n
	}
	var requests atomic.Int32
	server := countingServer(t, &requests, 4096, count)
	prompts := prompt.NewSynthetic(prompt.Unique, 5)
	fitted(t, server.URL, prompts, 256)
	if n := requests.Load(); n < 1 || n > 4 {
		t.Errorf("%d requests", n)
	}
	for range 50 {
		if n := count(prompts.Next(256).Text); n < 255 || n > 257 {
			t.Errorf("a prompt of %d tokens", n)
		}
	}
}

// A prompt that just fits the context is fitted too, although the first guess is refused.
func TestPromptNearTheEndOfTheContext(t *testing.T) {
	count := func(text string) int { return 60 + len(strings.Fields(text)) }
	var requests atomic.Int32
	server := countingServer(t, &requests, 1024, count)
	prompts := prompt.NewSynthetic(prompt.Unique, 5)
	fitted(t, server.URL, prompts, 1000)
	if n := count(prompts.Next(1000).Text); n < 999 || n > 1001 {
		t.Errorf("a prompt of %d tokens after %d requests", n, requests.Load())
	}
}

// countingServer has no tokenizer, refuses what exceeds its context, and reports in its
// usage what count returns.
func countingServer(t *testing.T, requests *atomic.Int32, context int, count func(string) int) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"tiny","object":"model","created":1,"owned_by":"library"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		n := count(body.Messages[0].Content)
		if n > context {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, you requested %d tokens.","code":"context_length_exceeded"}}`, context, n)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n")
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", n)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// fitted fits prompts of a length to a server.
func fitted(t *testing.T, url string, prompts *prompt.Synthetic, tokens int) {
	t.Helper()
	s, err := probe.New(probe.Options{
		URL: url, API: "chat", GPU: "off", Metrics: "off", MaxConcurrency: 4,
		Prompts: prompts, Load: frame.Load{Concurrency: 1, InputTokens: tokens, OutputTokens: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	t.Cleanup(s.Close)
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Calibrate(t.Context(), true)
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
