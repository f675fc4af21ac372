package probe_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sonde/probe"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// session is a session on an embedded engine of its own, over a real socket.
func session(t *testing.T, change func(*probe.Options)) (*probe.Session, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	base, _, err := sim.Listen(ctx, "127.0.0.1:0", sim.Options{Speed: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	opt := probe.Options{
		URL: base, API: "chat", Idle: 10 * time.Second, GPU: "auto", Seed: 1, Prefix: "unique",
		Prompts: prompt.NewSynthetic(prompt.Unique, 1), MaxConcurrency: 64, Tick: 50 * time.Millisecond,
		Load: probe.Load{Concurrency: 2, InputTokens: 100, OutputTokens: 20},
	}
	if change != nil {
		change(&opt)
	}
	s, err := probe.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(ctx)
	if err := s.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	return s, base
}

// until follows the session from now on until done says so, and returns the
// Frames.
func until(t *testing.T, s *probe.Session, done func(*probe.Frame) bool) []*probe.Frame {
	t.Helper()
	var frames []*probe.Frame
	var seq uint64
	if old := s.Since(0); len(old) > 0 {
		seq = old[len(old)-1].Seq
	}
	for range s.Tick() {
		for _, f := range s.Since(seq) {
			if seq = f.Seq; f.Err != nil {
				t.Fatal(f.Err)
			}
			frames = append(frames, f)
			if done(f) {
				return frames
			}
		}
	}
	t.Fatal("the session ended before the test was done")
	return nil
}

func TestSessionOnTheEmbeddedEngine(t *testing.T) {
	s, base := session(t, nil)
	s.Calibrate(context.Background(), false)
	s.Begin()
	frames := until(t, s, func(f *probe.Frame) bool { return f.Client.OK >= 10 && f.Engine.Have && len(f.GPU.GPUs) > 0 })
	last := frames[len(frames)-1]
	for _, f := range frames {
		for _, r := range f.Requests {
			if r.Class != "" || r.OutTokens != 20 || r.Chunks != 20 || r.Source != "usage" || r.InTokens != 100 {
				t.Errorf("request %+v", r)
			}
			if ttft, ok := r.TTFT(); !ok || ttft <= 0 || len(r.GapsMS) != 19 {
				t.Errorf("TTFT %v, %d gaps", ttft, len(r.GapsMS))
			}
		}
		if f.Client.InFlight > 2 || f.Client.Failed > 0 {
			t.Errorf("%d in flight, %d failed (%s)", f.Client.InFlight, f.Client.Failed, f.Client.LastError)
		}
	}
	if id := last.Engine.Identity; id.Kind != "sonde-sim" || last.Load.Level != 1 || last.GPU.GPUs[0].Source != "dcgm" {
		t.Errorf("engine %+v, level %d, GPU %+v", id, last.Load.Level, last.GPU.GPUs[0])
	}

	l := s.Load()
	l.Concurrency = 5
	s.SetLoad(l)
	frames = until(t, s, func(f *probe.Frame) bool { return f.Client.InFlight == 5 })
	events := 0
	for _, f := range frames {
		for _, e := range f.Events {
			if e.Kind == probe.EventLoad && e.Text == "concurrency 2 → 5" {
				events++
			}
		}
	}
	if last = frames[len(frames)-1]; events != 1 || last.Load.Level != 2 {
		t.Errorf("%d marks of the change, level %d; want 1, 2", events, last.Load.Level)
	}
	s.Close()
	got := running(t, base)
	for range 200 { // the engine notices a hang-up at its next step
		if got == "0" {
			break
		}
		time.Sleep(10 * time.Millisecond)
		got = running(t, base)
	}
	if got != "0" {
		t.Errorf("after closing, %s requests are running on the server", got)
	}
}

// running is what the engine says of itself.
func running(t *testing.T, base string) string {
	t.Helper()
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "vllm:num_requests_running{") {
			return strings.TrimSpace(line[strings.LastIndexByte(line, ' '):])
		}
	}
	return "unknown"
}

func TestAbortAndCaps(t *testing.T) {
	s, _ := session(t, func(o *probe.Options) { o.Load.OutputTokens = 5000; o.MaxConcurrency = 3 })
	defer s.Close()
	s.Begin()
	l := s.Load()
	l.Concurrency, l.InputTokens = 1000, -5
	s.SetLoad(l)
	if got := s.Load(); got.Concurrency != 3 || got.InputTokens != 1 {
		t.Errorf("the wish is %+v, want it brought into range", got)
	}
	until(t, s, func(f *probe.Frame) bool { return f.Client.InFlight == 3 && f.Client.Prefill == 0 })
	s.Abort()
	frames := until(t, s, func(f *probe.Frame) bool { return f.Client.InFlight == 0 })
	last := frames[len(frames)-1]
	if last.Client.Cancelled != 3 || last.Client.Failed != 0 || last.Load.Asked.Concurrency != 0 {
		t.Errorf("cancelled %d, failed %d, asked %d", last.Client.Cancelled, last.Client.Failed, last.Load.Asked.Concurrency)
	}
}

func TestTokenCapStopsTheLoad(t *testing.T) {
	s, _ := session(t, func(o *probe.Options) { o.MaxTokensTotal = 1000 })
	defer s.Close()
	s.Begin()
	frames := until(t, s, func(f *probe.Frame) bool { return f.Load.Asked.Concurrency == 0 })
	told := false
	for _, f := range frames {
		for _, e := range f.Events {
			told = told || strings.HasPrefix(e.Text, "stopped: ")
		}
	}
	if !told {
		t.Error("no word of why the load stopped")
	}
}

func TestWrongAddress(t *testing.T) {
	if _, err := probe.New(probe.Options{URL: "ftp://x", API: "chat"}); err == nil {
		t.Error("ftp was accepted")
	}
	s, err := probe.New(probe.Options{URL: "http://127.0.0.1:1", API: "chat", MaxConcurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(context.Background())
	defer s.Close()
	if err := s.Connect(context.Background()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("error %v", err)
	}
}
