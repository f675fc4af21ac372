package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
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
		<-s.driver.ended
		if err := s.driver.failure(); err != nil {
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
			snap := s.driver.snapshot()
			return snap.running, snap.waiting
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
		if running, waiting := load(); running+waiting != 0 || s.driver.snapshot().kvUsage != 0 {
			t.Errorf("%d run and %d wait when the scenario was ended", running, waiting)
		}
	})
}

// A stall that was asked for once happens once, at once, and is no fault in force
// afterwards.
func TestAStallHappensOnce(t *testing.T) {
	onStage(t, Options{}, func(s *Server) {
		took := func() time.Duration {
			seq := newSequence(exactly(prompt(16, 1), 50), &s.setup)
			ended := make(chan struct{})
			seq.sink = func(_ []uint16, end finish) {
				if end != finishNone {
					close(ended)
				}
			}
			s.driver.submit(seq)
			<-ended
			return seq.last - seq.arrived
		}
		usual := took()
		if err := s.ChangeFaults("stall=700ms"); err != nil {
			t.Fatal(err)
		}
		if got := s.Faults().String(); got != "" {
			t.Errorf("%q is in force", got)
		}
		near(t, "E2E with the stall", took().Seconds(), (usual + 700*time.Millisecond).Seconds(), 0.02)
		near(t, "E2E after it", took().Seconds(), usual.Seconds(), 0.02)
	})
}
