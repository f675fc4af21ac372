package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/sim/faults"
)

type nobody struct{}

func (nobody) iteration(iteration) {}
func (nobody) tokens([]yield)      {}

func startDriver(t *testing.T, ctx context.Context) *driver {
	t.Helper()
	return startDriverOf(t, ctx, Options{})
}

func startDriverOf(t *testing.T, ctx context.Context, o Options) *driver {
	t.Helper()
	s, err := o.resolve()
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(newCore(s), nobody{})
	d.start(ctx)
	return d
}

// Tokens leave on the engine's own schedule: the last of 100 comes when 100
// iterations are over, without added lateness.
func TestDriverKeepsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		time.Sleep(3 * time.Second) // idle: the schedule starts with the request
		s := newSequence(exactly(prompt(256, 1), 100), &d.core.setup)
		ended := make(chan time.Duration, 1)
		s.sink = func(_ []uint16, end finish) {
			if end != finishNone {
				ended <- d.Now()
			}
		}
		d.submit(s)
		at := <-ended
		near(t, "arrival of the request", s.arrived.Seconds(), 3, 1e-9)
		if late := at - s.last; late < 0 || late > timerGrain {
			t.Errorf("the last token is %v late", late)
		}
		near(t, "E2E", (s.last - s.arrived).Seconds(), 0.0226+99*0.00984, 0.01)
		cancel()
		<-d.ended
	})
}

func TestDriverStopsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		d.start(ctx) // a second start does nothing
		busy := newSequence(exactly(prompt(256, 1), 1000), &d.core.setup)
		busy.sink = func([]uint16, finish) {}
		if !d.submit(busy) {
			t.Fatal("a running engine refused a request")
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		<-d.ended
		if d.submit(newSequence(exactly(prompt(2, 1), 1), &d.core.setup)) {
			t.Error("a stopped engine took a request")
		}
		if err := d.failure(); err != nil {
			t.Errorf("stopped on request, but reports %v", err)
		}
	})
}

// A process that was stopped does not make up for the lost time in a burst.
func TestDriverDoesNotCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		s := newSequence(exactly(prompt(256, 1), 200), &d.core.setup)
		var burst int
		var last time.Duration
		ended := make(chan struct{})
		s.sink = func(_ []uint16, end finish) {
			if s.generated() == 50 {
				time.Sleep(2 * time.Second) // everything stands still
			} else if s.generated() > 51 && d.Now()-last < 5*time.Millisecond {
				burst++
			}
			last = d.Now()
			if end != finishNone {
				close(ended)
			}
		}
		d.submit(s)
		<-ended
		if burst > 0 {
			t.Errorf("%d tokens came in a burst after a standstill", burst)
		}
		cancel()
		<-d.ended
	})
}

func TestDriverReportsAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDriver(t, t.Context())
		s := newSequence(exactly(prompt(20, 1), 5), &d.core.setup)
		s.sink = func([]uint16, finish) { panic("broken") }
		d.submit(s)
		<-d.ended
		if d.failure() == nil || d.isRunning() {
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
		s := newSequence(exactly(prompt(2000, 1), 2), &d.core.setup)
		ended := make(chan time.Duration, 1)
		s.sink = func(_ []uint16, end finish) {
			if end != finishNone {
				ended <- d.Now()
			}
		}
		d.submit(s)
		time.Sleep(100 * time.Millisecond) // in the middle of its prefill
		if snap := d.snapshot(); snap.running != 1 || snap.waiting != 0 || snap.prefill.sm == 0 || snap.activity.sm != 0 {
			t.Errorf("while the pool reads: %d running, %d waiting, SM %.2f in the pool, %.2f elsewhere",
				snap.running, snap.waiting, snap.prefill.sm, snap.activity.sm)
		}
		at := <-ended
		near(t, "TTFT", (s.first - s.arrived).Seconds(), 0.1984, 0.01) // disaggregation_test.go has the terms
		if late := at - s.last; late < 0 || late > timerGrain {
			t.Errorf("the last token is %v late", late)
		}
		cancel()
		<-d.ended
	})
}

// Conditions count from the next iteration on.
func TestConditionsChangeBetweenIterations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := startDriver(t, ctx)
		d.SetFaults(faults.Faults{Slow: 100})
		s := newSequence(exactly(prompt(20, 1), 2), &d.core.setup)
		ended := make(chan struct{})
		s.sink = func(_ []uint16, end finish) {
			if end != finishNone {
				close(ended)
			}
		}
		d.submit(s)
		time.Sleep(10 * time.Millisecond)
		d.SetFaults(faults.Faults{}) // the second iteration is at full speed again
		<-ended
		near(t, "first token, a hundred times as slow", (s.first - s.arrived).Seconds(), 0.98, 0.03)
		near(t, "second token", (s.last - s.first).Seconds(), 0.0098, 0.03)
		cancel()
		<-d.ended
	})
}
