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
	d.skipOld()
	d.loop(ctx, ladder)
	return d.outcome(), d.err
}

// sweepDriver feeds a Controller.
type sweepDriver struct {
	runner   Sweeper
	drainFor time.Duration
	watcher  SweepWatcher
	control  *sweep.Controller
	keeper   *Keeper

	seq         uint64
	first, last *frame.Frame
	held        frame.Load   // the load of the level that goes on
	left        []frame.Load // those that have been left; their last Frame is to come
	ended       bool         // no further load comes
	endedAt     time.Duration
	interrupted bool
	err         error
}

// skipOld passes over the Frames from before the sweep, except for the engine's last word.
func (d *sweepDriver) skipOld() {
	if old := d.runner.Since(0); len(old) > 0 {
		newest := old[len(old)-1]
		d.seq = newest.Seq
		d.take(newest)
	}
}

func (d *sweepDriver) loop(ctx context.Context, ladder sweep.Plan) {
	d.runner.SetBudget(unlimited)
	if d.err = d.control.Start(ladder); d.err != nil {
		return
	}
	interrupted, ticks := ctx.Done(), d.runner.Tick()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			d.interrupted = true
			d.control.Stop()
			d.runner.Abort()
		case _, alive := <-ticks:
			for _, f := range d.runner.Since(d.seq) {
				d.seq = f.Seq
				d.take(f)
				if f.Err != nil {
					d.err = f.Err
				}
			}
			if d.err != nil || d.quiet() {
				return
			}
			if !alive {
				d.err = errEnded
				return
			}
		}
	}
}

// take feeds a Frame to whoever learns from it.
func (d *sweepDriver) take(f *frame.Frame) {
	if d.first == nil {
		d.first = f
	}
	d.last = f
	d.keeper.Add(f)
	status := d.control.Status()
	if status.State == sweep.Idle {
		return
	}
	if d.watcher != nil {
		d.report(status)
	}
	if status.State != sweep.Running && !d.ended {
		d.ended, d.endedAt = true, f.At
	}
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
	case d.drainFor > 0 && waited > d.drainFor+cutFor, d.interrupted && waited > cutFor:
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
	s.Lasted = s.Status.Elapsed
	if d.first != nil {
		s.Began = d.first.At
	}
	for i := range s.Levels {
		o := &s.Levels[i]
		o.Interrupted = d.interrupted && o.Level.Load == s.Status.Load // the one that was going on
	}
	return s
}
