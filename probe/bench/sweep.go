package bench

import (
	"context"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/sweep"
)

// Sweeper is the session that a sweep drives.
type Sweeper interface {
	Runner
	frame.Controls
}

// SweepWatcher follows how a sweep goes on.
type SweepWatcher interface {
	// At is called after every Frame.
	At(sweep.Status)
	// Ended is called when a level has been left, with its figures.
	Ended(level.Level)
}

// RunSweep tries the loads of the plan and returns when the sweep is over. Cancelling ctx ends
// it early: what is in flight is cancelled, and the SweepOutcome of what there is says so. An
// error comes with the figures so far.
func RunSweep(ctx context.Context, r Sweeper, plan Plan, ladder sweep.Plan, w SweepWatcher) (SweepOutcome, error) {
	book := level.NewBook(plan.SLOs)
	d := &sweepDriver{runner: r, drainFor: plan.DrainFor, watcher: w, control: sweep.NewController(r, book)}
	d.keeper = NewKeeper(plan, book, d.control.Add)
	newest := newestOf(r)
	d.take(newest) // for the engine's last word
	r.SetBudget(unlimited)
	if err := d.control.Start(ladder); err != nil {
		return d.outcome(), err
	}
	err := follow(ctx, r, run{after: newest.Seq, take: d.take, interrupt: d.interrupt})
	return d.outcome(), err
}

// sweepDriver feeds a Controller.
type sweepDriver struct {
	runner   Sweeper
	drainFor time.Duration
	watcher  SweepWatcher
	control  *sweep.Controller
	keeper   *Keeper

	began       time.Duration // the newest Frame of before
	last        *frame.Frame
	held        frame.Load   // the load of the level that goes on
	left        []frame.Load // those that have been left; their last Frame is to come
	ended       bool         // no further load comes
	endedAt     time.Duration
	interrupted bool
}

// interrupt ends the sweep early.
func (d *sweepDriver) interrupt() {
	d.interrupted = true
	d.control.Stop()
	d.runner.Abort()
}

// take feeds a Frame to whoever learns from it.
func (d *sweepDriver) take(f *frame.Frame) (done bool) {
	d.last = f
	d.keeper.Add(f)
	status := d.control.Status()
	if status.State == sweep.Idle {
		d.began = f.At
		return false
	}
	d.report(status)
	if status.State != sweep.Running && !d.ended {
		d.ended, d.endedAt = true, f.At
	}
	return d.quiet()
}

func (d *sweepDriver) report(s sweep.Status) {
	d.reportLeft()
	load := s.Load
	if s.State != sweep.Running {
		load = frame.Load{}
	}
	if load != d.held {
		d.left = append(d.left, d.held)
		d.held = load
	}
	d.watcher.At(s)
}

// reportLeft reports the levels that have been left, once the load of the newest Frame is
// another: only then they are complete.
func (d *sweepDriver) reportLeft() {
	now := d.last.Load.Requested
	for len(d.left) > 0 && d.left[0] != now {
		for _, l := range d.control.Book().Levels() {
			if l.Load == d.left[0] {
				d.watcher.Ended(l)
			}
		}
		d.left = d.left[1:]
	}
}

// quiet reports whether the sweep is over and its last requests have ended; those that take
// too long are cancelled. Their tokens count for the rates of the last level.
func (d *sweepDriver) quiet() bool {
	if !d.ended || d.last.At == d.endedAt {
		return false
	}
	if d.last.Client.InFlight == 0 {
		return true
	}
	switch waited := d.last.At - d.endedAt; {
	case d.drainFor > 0 && waited > d.drainFor+cutFor:
		return true
	case d.drainFor > 0 && waited > d.drainFor:
		d.runner.Abort()
	}
	return false
}

// outcome is what there is.
func (d *sweepDriver) outcome() SweepOutcome {
	s := d.keeper.conclude(d.control.Result())
	s.Status, s.Interrupted = d.control.Status(), d.interrupted
	s.Began, s.Lasted = d.began, s.Status.Elapsed
	for i := range s.Levels {
		o := &s.Levels[i]
		o.Interrupted = d.interrupted && o.Level.Load == s.Status.Load // the one that was going on
	}
	return s
}
