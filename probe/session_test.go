package probe_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/prompt"
	"sonde/probe/sim"
	"sonde/probe/simtest"
)

// session is a session on an embedded engine of its own, over a real socket.
func session(t *testing.T, change func(*probe.Options)) (*probe.Session, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	embedded, err := sim.New(sim.Options{Speed: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := embedded.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	opt := probe.Options{
		URL: base, API: "chat", Idle: 10 * time.Second, GPU: "auto", Seed: 1, Prefix: "unique",
		Prompts: prompt.NewSynthetic(prompt.Unique, 1), MaxConcurrency: 64, Tick: 50 * time.Millisecond,
		Load: frame.Load{Concurrency: 2, InputTokens: 100, OutputTokens: 20},
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

// until hands out the Frames after the seq-th, up to the first of which done says
// that it is the last.
func until(t *testing.T, s *probe.Session, seq uint64, done func(*frame.Frame) bool) []*frame.Frame {
	t.Helper()
	var frames []*frame.Frame
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
	frames := until(t, s, 0, func(f *frame.Frame) bool { return f.Client.OK >= 10 && f.Engine.Have && len(f.GPU.GPUs) > 0 })
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
	frames = until(t, s, last.Seq, func(f *frame.Frame) bool { return f.Client.InFlight == 5 })
	events := 0
	for _, f := range frames {
		for _, e := range f.Events {
			if e.Kind == frame.EventLoad && e.Text == "concurrency 2 → 5" {
				events++
			}
		}
	}
	if last = frames[len(frames)-1]; events != 1 || last.Load.Level != 2 {
		t.Errorf("%d marks of the change, level %d; want 1, 2", events, last.Load.Level)
	}
	s.Close()
	for hung := time.Now().Add(20 * time.Second); running(t, base) != "0"; { // it notices a hang-up at its next step
		if time.Now().After(hung) {
			t.Fatal("after closing, requests are running on the server")
		}
		time.Sleep(10 * time.Millisecond)
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
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{}, probe.Options{MaxConcurrency: 3, Load: frame.Load{Concurrency: 2, OutputTokens: 5000}})
		l := r.Session.Load()
		l.Concurrency, l.InputTokens = 1000, -5
		r.Session.SetLoad(l)
		if got := r.Session.Load(); got.Concurrency != 3 || got.InputTokens != 1 {
			t.Errorf("the wish is %+v, want it brought into range", got)
		}
		var last *frame.Frame
		newest := func(f *frame.Frame) { last = f }
		r.Play(3*time.Second, newest)
		if last.Client.InFlight != 3 || last.Client.Prefill != 0 {
			t.Errorf("%d in flight, %d of them in prefill; want 3, 0", last.Client.InFlight, last.Client.Prefill)
		}
		r.Session.Abort()
		r.Play(time.Second, newest)
		if last.Client.InFlight != 0 || last.Client.Cancelled != 3 || last.Client.Failed != 0 || last.Load.Requested.Concurrency != 0 {
			t.Errorf("%d in flight, cancelled %d, failed %d, asked %d; want 0, 3, 0, 0",
				last.Client.InFlight, last.Client.Cancelled, last.Client.Failed, last.Load.Requested.Concurrency)
		}
	})
}

// Two streams of 100 + 40 tokens are in step: a pair of requests takes some 0.4 s, longer
// than a tick, and spends 280 tokens. The fourth pair reaches the cap of 1,000; the fifth
// has begun by then and is let to its end.
func TestTokenCapStopsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{}, probe.Options{
			MaxTokensTotal: 1000, Load: frame.Load{Concurrency: 2, InputTokens: 100, OutputTokens: 40},
		})
		var last *frame.Frame
		var told []string
		r.Play(10*time.Second, func(f *frame.Frame) {
			for _, e := range f.Events {
				if e.Kind == frame.EventNote {
					told = append(told, e.Text)
				}
			}
			last = f
		})
		if want := "stopped: 1120 tokens were used, the cap is 1000"; len(told) != 1 || told[0] != want {
			t.Errorf("notes %q, want %q", told, want)
		}
		if last.Load.Requested.Concurrency != 0 || last.Client.InFlight != 0 || last.Client.OK != 10 || last.Client.Cancelled != 0 {
			t.Errorf("asked %d, in flight %d, OK %d, cancelled %d; want 0, 0, 10, 0",
				last.Load.Requested.Concurrency, last.Client.InFlight, last.Client.OK, last.Client.Cancelled)
		}
	})
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
