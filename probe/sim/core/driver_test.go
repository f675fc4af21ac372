package core

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/sim/faults"
)

type nobody struct{}

func (nobody) Iteration(Iteration) {}
func (nobody) Tokens([]Output)     {}

func startDriver(t *testing.T, ctx context.Context) *Driver {
	t.Helper()
	return startDriverOf(t, ctx, Options{})
}

func startDriverOf(t *testing.T, ctx context.Context, o Options) *Driver {
	t.Helper()
	s, err := o.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	d := NewDriver(s, nobody{})
	d.Start(ctx)
	return d
}

// Tokens leave on the engine's own schedule: the last of 100 comes when 100
// iterations are over, without added lateness.
func TestDriverKeepsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		time.Sleep(3 * time.Second) // idle: the schedule starts with the request
		s := NewSequence(exactly(prompt(256, 1), 100), &d.engine.Setup)
		ended := make(chan time.Duration, 1)
		s.Sink = func(_ []uint16, end FinishReason) {
			if end != Unfinished {
				ended <- d.Now()
			}
		}
		d.Submit(s)
		at := <-ended
		near(t, "arrival of the request", s.Arrived.Seconds(), 3, 1e-9)
		if late := at - s.Last; late < 0 || late > timerGrain {
			t.Errorf("the last token is %v late", late)
		}
		near(t, "E2E", (s.Last - s.Arrived).Seconds(), 0.0226+99*0.00984, 0.01)
		cancel()
		<-d.Ended
	})
}

func TestDriverStopsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		busy := NewSequence(exactly(prompt(256, 1), 1000), &d.engine.Setup)
		busy.Sink = func([]uint16, FinishReason) {}
		if !d.Submit(busy) {
			t.Fatal("a running engine refused a request")
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		<-d.Ended
		if d.Submit(NewSequence(exactly(prompt(2, 1), 1), &d.engine.Setup)) {
			t.Error("a stopped engine took a request")
		}
		if err := d.Failure(); err != nil {
			t.Errorf("stopped on request, but reports %v", err)
		}
	})
}

// A process that was stopped does not make up for the lost time in a burst.
func TestDriverDoesNotCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		s := NewSequence(exactly(prompt(256, 1), 200), &d.engine.Setup)
		var burst int
		var last time.Duration
		ended := make(chan struct{})
		s.Sink = func(_ []uint16, end FinishReason) {
			if s.Generated() == 50 {
				time.Sleep(2 * time.Second) // everything stands still
			} else if s.Generated() > 51 && d.Now()-last < 5*time.Millisecond {
				burst++
			}
			last = d.Now()
			if end != Unfinished {
				close(ended)
			}
		}
		d.Submit(s)
		<-ended
		if burst > 0 {
			t.Errorf("%d tokens came in a burst after a standstill", burst)
		}
		cancel()
		<-d.Ended
	})
}

func TestDriverReportsAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDriver(t, t.Context())
		s := NewSequence(exactly(prompt(20, 1), 5), &d.engine.Setup)
		s.Sink = func([]uint16, FinishReason) { panic("broken") }
		d.Submit(s)
		<-d.Ended
		if d.Failure() == nil || d.IsRunning() {
			t.Error("a panic of the engine went unnoticed")
		}
	})
}

// Between two requests nothing decodes, but the pool reads a prompt and the link moves
// its KV: the driver has to wake up for both by itself.
func TestDriverPacesAPrefillPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriverOf(t, ctx, Options{Disaggregated: true})
		time.Sleep(time.Second)
		s := NewSequence(exactly(prompt(2000, 1), 2), &d.engine.Setup)
		ended := make(chan time.Duration, 1)
		s.Sink = func(_ []uint16, end FinishReason) {
			if end != Unfinished {
				ended <- d.Now()
			}
		}
		d.Submit(s)
		time.Sleep(100 * time.Millisecond) // in the middle of its prefill
		if snap := d.Snapshot(); snap.Running != 1 || snap.Waiting != 0 || snap.GPUs[1].SM == 0 || snap.GPUs[0].SM != 0 {
			t.Errorf("while the pool reads: %d running, %d waiting, SM %.2f in the pool, %.2f elsewhere",
				snap.Running, snap.Waiting, snap.GPUs[1].SM, snap.GPUs[0].SM)
		}
		at := <-ended
		near(t, "TTFT", (s.First - s.Arrived).Seconds(), 0.1984, 0.01) // disaggregation_test.go has the terms
		if late := at - s.Last; late < 0 || late > timerGrain {
			t.Errorf("the last token is %v late", late)
		}
		cancel()
		<-d.Ended
	})
}

// Conditions count from the next iteration on.
func TestConditionsChangeBetweenIterations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		d.SetFaults(faults.Faults{Slow: 100})
		s := NewSequence(exactly(prompt(20, 1), 2), &d.engine.Setup)
		ended := make(chan struct{})
		s.Sink = func(_ []uint16, end FinishReason) {
			if end != Unfinished {
				close(ended)
			}
		}
		d.Submit(s)
		time.Sleep(10 * time.Millisecond)
		d.SetFaults(faults.Faults{}) // the second iteration is at full speed again
		<-ended
		near(t, "first token, a hundred times as slow", (s.First - s.Arrived).Seconds(), 0.98, 0.03)
		near(t, "second token", (s.Last - s.First).Seconds(), 0.0098, 0.03)
		cancel()
		<-d.Ended
	})
}
