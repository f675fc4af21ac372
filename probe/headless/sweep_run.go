package headless

import (
	"context"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/sweep"
)

// Sweeper is the session that a sweep drives.
type Sweeper interface {
	Runner
	frame.Controls
}

// SweepWatcher is told how a sweep goes on.
type SweepWatcher interface {
	// At is called after every Frame.
	At(sweep.Status)
	// Ended is called when a level has been left, with its figures.
	Ended(sweep.Row)
}

// RunSweep tries the loads of the plan and returns when the sweep is over. Cancelling ctx ends
// it early: what is in flight is cancelled, and the SweepSummary of what there is says so. An
// error comes with the figures so far.
func RunSweep(ctx context.Context, r Sweeper, plan Plan, ladder sweep.Plan, w SweepWatcher) (SweepSummary, error) {
	d := &sweepDriver{
		runner: r, plan: plan, watcher: w, book: levelBook{plan: plan},
		control: sweep.NewController(r, sweep.NewLevels(plan.SLOs)),
	}
	d.skipOld()
	d.loop(ctx, ladder)
	return d.summary(), d.err
}

// sweepDriver feeds a Controller and the book of levels.
type sweepDriver struct {
	runner  Sweeper
	plan    Plan
	watcher SweepWatcher
	book    levelBook
	control *sweep.Controller

	seq         uint64
	first, last *frame.Frame
	held        frame.Load   // the load of the level that goes on
	left        []frame.Load // those that have been left; their last Frame is to come
	ended       bool         // no further load comes
	endedAt     time.Duration
	interrupted bool
	err         error
}

// skipOld passes over the Frames from before the sweep, but for the engine's last word.
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
	d.book.Add(f)
	d.control.Add(f)
	status := d.control.Status()
	if status.State == sweep.Idle {
		return
	}
	if d.watcher != nil {
		d.tell(status)
	}
	if status.State != sweep.Running && !d.ended {
		d.ended, d.endedAt = true, f.At
	}
}

func (d *sweepDriver) tell(s sweep.Status) {
	d.tellLeft()
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

// tellLeft tells the levels that have been left, once the load of the newest Frame is
// another: only then their rows are complete.
func (d *sweepDriver) tellLeft() {
	now := d.last.Load.Asked
	for len(d.left) > 0 && d.left[0] != now {
		for _, row := range d.control.Levels().Rows() {
			if row.Load == d.left[0] {
				d.watcher.Ended(row)
			}
		}
		d.left = d.left[1:]
	}
}

// quiet tells whether the sweep is over and its last requests have ended; those that take
// too long are cancelled. Their tokens count for the rates of the last level.
func (d *sweepDriver) quiet() bool {
	if !d.ended || d.last.At == d.endedAt {
		return false
	}
	if d.last.Client.InFlight == 0 {
		return true
	}
	switch waited := d.last.At - d.endedAt; {
	case d.plan.DrainFor > 0 && waited > d.plan.DrainFor+cutFor, d.interrupted && waited > cutFor:
		return true
	case d.plan.DrainFor > 0 && waited > d.plan.DrainFor:
		d.runner.Abort()
	}
	return false
}

// summary sums up what there is.
func (d *sweepDriver) summary() SweepSummary {
	status := d.control.Status()
	s := d.book.summary(d.control.Result(), d.plan.SLOs)
	s.Interrupted = d.interrupted
	s.EndedEarly = Text(status.Why)
	if d.interrupted {
		s.EndedEarly = "interrupted"
		d.markInterrupted(&s, status.Load)
	}
	if d.last != nil {
		s.DurationS = number(opt.Of(status.Elapsed.Seconds()))
		if started := d.last.Target.Started; !started.IsZero() && d.first != nil {
			s.Started = Instant(started.Add(d.first.At))
		}
	}
	return s
}

// markInterrupted marks the level that was going on.
func (d *sweepDriver) markInterrupted(s *SweepSummary, at frame.Load) {
	for i := range s.Levels {
		if s.Levels[i].Asked == at {
			s.Levels[i].Interrupted = true
		}
	}
}
