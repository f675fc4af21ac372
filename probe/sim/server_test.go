package sim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// onStage runs f with a started engine in virtual time.
func onStage(t *testing.T, o Options, f func(s *Server)) {
	synctest.Test(t, func(t *testing.T) {
		o.VirtualTime = true
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s.Start(ctx)
		f(s)
		cancel()
		<-s.driver.Ended
		if err := s.driver.Failure(); err != nil {
			t.Error(err)
		}
	})
}

// The acts of a scenario begin at their times, whether somebody asks for something
// or not, until it is ended.
func TestScenarioKeepsItsTimetable(t *testing.T) {
	onStage(t, Options{Scenario: "slow-replica"}, func(s *Server) {
		at := time.Duration(0)
		expect := func(second float64, part, faults string) {
			t.Helper()
			until := time.Duration(second * float64(time.Second))
			time.Sleep(until - at)
			at = until
			name, now, left := s.Playing()
			if name != "slow-replica" || now != part || left <= 0 || s.Faults().String() != faults {
				t.Errorf("after %g s: %s, %s for %v, %q; want %s and %q", second, name, now, left, s.Faults().String(), part, faults)
			}
		}
		expect(19.99, "calm before", "")
		expect(20.01, "incident", "slow=3")
		expect(79.99, "incident", "slow=3")
		expect(80.01, "recovery", "")
		expect(120.01, "calm before", "")
		expect(140.01, "incident", "slow=3")
		if err := s.ChangeFaults("clump=4"); err != nil {
			t.Fatal(err)
		}
		expect(200.01, "recovery", "clump=4")
		if err := s.Play(""); err != nil || s.Faults().String() != "clump=4" {
			t.Errorf("%v, %q", err, s.Faults().String())
		}
		time.Sleep(time.Hour)
		if s.Faults().String() != "clump=4" {
			t.Errorf("%q after the end", s.Faults().String())
		}
	})
}

// The other clients of a scenario come when the incident begins and are gone when it
// ends, or when the scenario is ended in the middle of it.
func TestOthersComeAndGo(t *testing.T) {
	onStage(t, Options{Scenario: "overload"}, func(s *Server) {
		load := func() (running, waiting int) {
			snap := s.driver.Snapshot()
			return snap.Running, snap.Waiting
		}
		time.Sleep(19 * time.Second)
		if running, waiting := load(); running+waiting != 0 {
			t.Errorf("%d run and %d wait before the incident", running, waiting)
		}
		time.Sleep(40 * time.Second)
		if running, waiting := load(); running < 10 || waiting < 10 {
			t.Errorf("%d run and %d wait in the incident", running, waiting)
		}
		time.Sleep(22 * time.Second)
		if running, waiting := load(); running+waiting != 0 {
			t.Errorf("%d run and %d wait after the incident", running, waiting)
		}
		time.Sleep(60 * time.Second)
		if running, _ := load(); running < 10 {
			t.Errorf("%d run in the second incident", running)
		}
		if err := s.Play(""); err != nil {
			t.Fatal(err)
		}
		if running, waiting := load(); running+waiting != 0 || s.driver.Snapshot().KVUsage != 0 {
			t.Errorf("%d run and %d wait when the scenario was ended", running, waiting)
		}
	})
}

// A stall that was asked for once happens once, at once, and is no fault in force
// afterwards.
func TestAStallHappensOnce(t *testing.T) {
	onStage(t, Options{}, func(s *Server) {
		took := func() time.Duration {
			seq := core.NewSequence(core.Request{Prompt: make([]uint32, 16), MaxTokens: 50, IgnoreEOS: true}, &s.setup)
			ended := make(chan struct{})
			seq.Sink = func(_ []uint16, end core.FinishReason) {
				if end != core.Unfinished {
					close(ended)
				}
			}
			s.driver.Submit(seq)
			<-ended
			return seq.Last - seq.Arrived
		}
		near := func(what string, got, want time.Duration) {
			if (got - want).Abs() > want/50 {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		usual := took()
		if err := s.ChangeFaults("stall=700ms"); err != nil {
			t.Fatal(err)
		}
		if got := s.Faults().String(); got != "" {
			t.Errorf("%q is in force", got)
		}
		near("E2E with the stall", took(), usual+700*time.Millisecond)
		near("E2E after it", took(), usual)
	})
}

// Loading ends by itself after its time, or when it is switched off.
func TestLoadingEnds(t *testing.T) {
	onStage(t, Options{}, func(s *Server) {
		set := func(list string) {
			t.Helper()
			if err := s.ChangeFaults(list); err != nil {
				t.Fatal(err)
			}
		}
		set("loading=10s")
		time.Sleep(9 * time.Second)
		set("clump=2") // leaves the end of the loading alone
		if s.Faults().Loading == 0 {
			t.Error("loaded after 9 s, want 10 s")
		}
		time.Sleep(2 * time.Second)
		if s.Faults().String() != "clump=2" {
			t.Errorf("%s after 11 s", s.Faults())
		}
		set("loading")
		time.Sleep(time.Hour)
		if s.Faults().Loading == 0 {
			t.Error("loading ended although nobody switched it off")
		}
		set("loading=off")
		if s.Faults().Loading > 0 {
			t.Error("it is still loading")
		}
	})
}

// A scenario's faults lie on top of the requested ones, and go without them.
func TestFaultsOfAScenarioLieOnTop(t *testing.T) {
	requested := faults.Faults{Clump: 4, Slow: 2}
	onStage(t, Options{Faults: requested, Scenario: "slow-replica"}, func(s *Server) {
		time.Sleep(30 * time.Second)
		if got := s.Faults(); got != (faults.Faults{Clump: 4, Slow: 3}) {
			t.Errorf("%s", got)
		}
		if err := s.Play(""); err != nil || s.Faults() != requested {
			t.Errorf("%s is left, %v", s.Faults(), err)
		}
	})
}

func TestNotStartedAndStopped(t *testing.T) {
	s, err := New(Options{Speed: 20})
	if err != nil {
		t.Fatal(err)
	}
	if s.driver.IsRunning() {
		t.Error("an engine runs before Start")
	}
	ctx, cancel := context.WithCancel(context.Background())
	base, done, err := s.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body := `{"messages":[{"role":"user","content":"Hi"}],"stream":true,"max_tokens":10000,"ignore_eos":true}`
	r, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	if b, _ := io.ReadAll(r.Body); bytes.Contains(b, []byte(`"finish_reason":"length"`)) {
		t.Error("a stream that was cut looks complete")
	}
}
