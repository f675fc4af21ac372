package bench

import (
	"context"
	"errors"
	"time"

	"sonde/probe/frame"
)

// Runner is the session that a run drives.
type Runner interface {
	frame.Frames
	SetLoad(frame.Load) frame.Load
	// SetBudget allows at most n more requests to be sent: 0 = none, −1 = no limit.
	SetBudget(n int)
	// Abort cancels everything in flight.
	Abort()
	// Tick says that a new Frame may be there. It is closed when the session ends.
	Tick() <-chan struct{}
}

// errEnded is the session ending by itself in the middle of a run.
var errEnded = errors.New("the session ended before the run was done")

// Run puts the plan's load on the session and returns when the run is over.
// Cancelling ctx ends it early: what is in flight is cancelled, and the Outcome
// of what there is says so. An error comes with the Outcome so far. progress is
// called after every Frame and may be nil.
func Run(ctx context.Context, r Runner, plan Plan, progress func(Progress)) (Outcome, error) {
	w := NewWindow(plan)
	w.runner = r
	w.unload()
	newest := newestOf(r)
	w.skip(newest) // for the engine's last word: increases count from there
	w.grant(plan.firstBudget())
	r.SetLoad(plan.Load)
	defer w.unload()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	err := follow(ctx, r, run{
		after: newest.Seq, interrupt: w.Interrupt, end: timer.C, hold: w.hold,
		take: func(f *frame.Frame) (done bool) {
			w.Add(f)
			w.topUp(f)
			if progress != nil {
				progress(w.progress(f))
			}
			// Waiting for the Frame that shows the end would let requests slip through after it.
			if at, ok := w.deadline(); ok && at > f.At {
				timer.Reset(at - f.At)
			} else {
				timer.Stop()
			}
			return w.phase == Done
		},
	})
	return w.Outcome(), err
}

// hold stops sending at the end of the window, or of a warm-up that drains.
func (w *Window) hold() {
	if w.phase == Measuring || w.phase == Warmup && w.plan.warmupDrains() {
		w.grant(0)
	}
}

// unload leaves the session without load.
func (w *Window) unload() {
	w.runner.SetBudget(0)
	w.runner.SetLoad(w.plan.Load.Idle())
}

// newestOf is the newest Frame so far, an empty one if there is none.
func newestOf(r Runner) *frame.Frame {
	if old := r.Since(0); len(old) > 0 {
		return old[len(old)-1]
	}
	return &frame.Frame{}
}

// run is what follows the Frames of a session.
type run struct {
	after     uint64                         // Frames up to that one are of before
	take      func(*frame.Frame) (done bool) // takes the next Frame
	interrupt func()                         // ends the run early
	end       <-chan time.Time               // ticks where a phase ends by the clock; nil: none does
	hold      func()                         // is called then
}

// follow hands every new Frame to a run until it is done.
func follow(ctx context.Context, r Runner, to run) error {
	var giveUp <-chan time.Time
	interrupted, ticks := ctx.Done(), r.Tick()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			to.interrupt()
			giveUp = time.After(cutFor)
		case <-giveUp:
			return nil
		case <-to.end:
			to.hold()
		case _, alive := <-ticks:
			for _, f := range r.Since(to.after) {
				to.after = f.Seq
				if done := to.take(f); done || f.Err != nil {
					return f.Err
				}
			}
			if !alive {
				return errEnded
			}
		}
	}
}
