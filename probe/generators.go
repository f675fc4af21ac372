package probe

import (
	"context"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
)

// generators send the load: the pool of streams of this process, or other processes.
// Their methods return at once, except for Close.
type generators interface {
	// Set changes the load, and returns when that takes effect.
	Set(l frame.Load) (from time.Duration)
	SetRamp(d time.Duration)
	SetBudget(n int)
	FireLong(tokens int)
	Abort()
	// Close cancels everything and waits until no request is left running.
	Close()
	// Until is up to when all is known that was sent and came back.
	Until(now time.Duration) time.Duration
	Retrying() (n int, next time.Duration)
	Outlook() (rateNow float64, ahead arrivals.Outlook)
	// Replay is how far a trace has come; nil if none is replayed.
	Replay() *frame.TraceState
	LeftOut() int
	CutTo() int
}

// Remote are other processes that send the load.
type Remote interface {
	generators
	collect.Remote
	Workers() []frame.Worker
}

// RemoteSetup is what a Remote needs of its Session.
type RemoteSetup struct {
	Now  func() time.Duration
	Note func(string)
	Fail func(error)
}

// AwaitWorkers waits until n workers take part, where others send the load.
func (s *Session) AwaitWorkers(ctx context.Context, n int) error {
	remote, ok := s.pool.(Remote)
	if !ok {
		return nil
	}
	s.enter(frame.StageWorkers)
	defer s.enter(frame.StageLoad)
	tick := time.NewTicker(s.opt.Tick)
	defer tick.Stop()
	for {
		taking := 0
		for _, w := range remote.Workers() {
			if w.Takes() {
				taking++
			}
		}
		if taking >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// noWorkers is why nothing is sent where no worker takes part.
const noWorkers = "no worker takes part: start some with sonde worker, with the same --nats and --run"

// workers follows the processes that send the load. The health of the client is that of the one that
// does worst: percentiles are of all requests together, and one that is in the way spoils them.
type workers struct{ remote Remote }

func (w workers) add(f *frame.Frame, _ *collect.Tick) {
	f.Workers = w.remote.Workers()
	out := &f.Health
	taking := 0
	for i := range f.Workers {
		m := &f.Workers[i]
		if !m.Takes() {
			continue
		}
		if taking++; taking == 1 || m.Health.Stamps != "kernel" && m.Health.Stamps != "" {
			out.Stamps = m.Health.Stamps
		}
		out.LateMsP99, out.CoalescedShare = max(out.LateMsP99, m.Health.LateMsP99), max(out.CoalescedShare, m.Health.CoalescedShare)
		out.GCPauseMs = max(out.GCPauseMs, m.Health.GCPauseMs)
		if m.Health.CPU.OK && m.Health.CPU.V >= out.CPU.Or(0) {
			out.CPU = m.Health.CPU
		}
		if m.Health.Bottleneck && out.Why == "" {
			out.Why = "worker " + m.Name + ": " + m.Health.Why
		}
	}
	if taking == 0 && !f.Load.Requested.IsIdle() {
		out.Why = noWorkers
	}
	out.Bottleneck = out.Why != ""
}
