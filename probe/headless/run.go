package headless

import (
	"context"
	"errors"
	"time"

	"sonde/probe/frame"
	"sonde/probe/report"
)

// Runner is the session that a run drives.
type Runner interface {
	frame.Frames
	SetLoad(frame.Load)
	// SetBudget allows at most n more requests to be sent: 0 = none, −1 = no limit.
	SetBudget(n int)
	// Abort cancels everything in flight.
	Abort()
	// Tick tells that a new Frame may be there. It is closed when the session ends.
	Tick() <-chan struct{}
}

// errEnded is the session ending by itself in the middle of a run.
var errEnded = errors.New("the session ended before the run was done")

// Run puts the plan's load on the session and returns when the run is over.
// Cancelling ctx ends it early: what is in flight is cancelled, and the Summary
// of what there is says so. An error comes with the Summary so far. progress is
// called after every Frame and may be nil.
func Run(ctx context.Context, r Runner, plan Plan, progress func(report.Progress)) (Summary, error) {
	d := &driver{runner: r, plan: plan, acc: NewAccumulator(plan), progress: progress}
	d.unload()
	d.catchUp()
	d.grant(plan.firstBudget())
	r.SetLoad(plan.Load)
	defer d.unload()
	err := d.loop(ctx)
	return d.acc.Summary(), err
}

// driver carries out on the session what the Accumulator finds.
type driver struct {
	runner   Runner
	plan     Plan
	acc      *Accumulator
	progress func(report.Progress)

	seq     uint64
	phase   Phase
	granted int // requests allowed when the budget was set last; −1 = no limit
	sentAt  int // requests sent until then
	sent    int // requests sent in all, as of the newest Frame

	deadline *time.Timer
}

// catchUp skips the Frames from before the run, but for the engine's last word:
// increases count from there.
func (d *driver) catchUp() {
	if old := d.runner.Since(0); len(old) > 0 {
		newest := old[len(old)-1]
		d.seq, d.sent = newest.Seq, newest.Client.Sent
		d.acc.engine.add(newest, 0, false)
	}
}

func (d *driver) loop(ctx context.Context) error {
	d.deadline = time.NewTimer(time.Hour)
	defer d.deadline.Stop()
	var giveUp <-chan time.Time
	interrupted, ticks := ctx.Done(), d.runner.Tick()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			d.interrupt()
			giveUp = time.After(cutFor)
		case <-giveUp:
			return nil
		case <-d.deadline.C:
			d.hold()
		case _, alive := <-ticks:
			if err := d.takeFrames(); err != nil {
				return err
			}
			if d.acc.Phase() == Done {
				return nil
			}
			if !alive {
				return errEnded
			}
		}
	}
}

// takeFrames feeds what is new and acts on where that leads.
func (d *driver) takeFrames() error {
	for _, f := range d.runner.Since(d.seq) {
		d.seq, d.sent = f.Seq, f.Client.Sent
		d.acc.Add(f)
		if f.Err != nil {
			return f.Err
		}
		d.act()
		d.topUp(f)
		if d.progress != nil {
			d.progress(d.acc.progress(f))
		}
		d.plannedStop(f.At)
		if d.acc.Phase() == Done {
			break
		}
	}
	return nil
}

// act carries out what the phase that was just reached asks for.
func (d *driver) act() {
	if d.acc.Phase() == d.phase {
		return
	}
	d.phase = d.acc.Phase()
	switch d.phase {
	case Measuring:
		if d.plan.hasWarmup() {
			d.grant(d.plan.measuredBudget())
		}
	case Settling, Draining:
		d.grant(0)
	case Cutting:
		d.runner.Abort()
	}
}

func (d *driver) grant(n int) {
	d.granted, d.sentAt = n, d.sent
	d.runner.SetBudget(n)
}

// topUp replaces requests that used up the budget and counted for nothing: the
// refusals of a server that is still loading.
func (d *driver) topUp(f *frame.Frame) {
	missing, counted := d.acc.Remaining()
	spent := d.granted > 0 && d.sent-d.sentAt >= d.granted
	if counted && missing > 0 && spent && f.Client.InFlight == 0 {
		d.grant(missing)
	}
}

// plannedStop sets the timer for the next end by the clock: waiting for the
// Frame that shows it would let requests slip through after it.
func (d *driver) plannedStop(now time.Duration) {
	if at, ok := d.acc.Deadline(); ok && at > now {
		d.deadline.Reset(at - now)
	} else {
		d.deadline.Stop()
	}
}

// hold stops sending at the end of the window, or of a warm-up that drains.
func (d *driver) hold() {
	switch phase := d.acc.Phase(); {
	case phase == Measuring, phase == Warmup && d.plan.warmupDrains():
		d.grant(0)
	}
}

func (d *driver) interrupt() {
	d.grant(0)
	d.runner.Abort()
	d.acc.Interrupt()
	d.phase = d.acc.Phase()
}

// unload leaves the session without load.
func (d *driver) unload() {
	d.runner.SetBudget(0)
	idle := d.plan.Load
	idle.Concurrency, idle.Rate = 0, 0
	d.runner.SetLoad(idle)
}
