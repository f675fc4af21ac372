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
	SetLoad(frame.Load)
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
	d := &driver{runner: r, plan: plan, window: NewWindow(plan), progress: progress}
	d.unload()
	d.catchUp()
	d.grant(plan.firstBudget())
	r.SetLoad(plan.Load)
	defer d.unload()
	err := d.loop(ctx)
	return d.window.Outcome(), err
}

// driver carries out on the session what the Window finds.
type driver struct {
	runner   Runner
	plan     Plan
	window   *Window
	progress func(Progress)

	seq     uint64
	phase   Phase
	granted int // requests allowed when the budget was set last; −1 = no limit
	sentAt  int // requests sent until then
	sent    int // requests sent in all, as of the newest Frame

	deadline *time.Timer
}

// catchUp skips the Frames from before the run, except for the engine's last word:
// increases count from there.
func (d *driver) catchUp() {
	if old := d.runner.Since(0); len(old) > 0 {
		newest := old[len(old)-1]
		d.seq, d.sent = newest.Seq, newest.Client.Sent
		d.window.Skip(newest)
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
			if d.window.Phase() == Done {
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
		d.window.Add(f)
		if f.Err != nil {
			return f.Err
		}
		d.act()
		d.topUp(f)
		if d.progress != nil {
			d.progress(d.window.progress(f))
		}
		d.plannedStop(f.At)
		if d.window.Phase() == Done {
			break
		}
	}
	return nil
}

// act carries out what the phase that was just reached needs.
func (d *driver) act() {
	if d.window.Phase() == d.phase {
		return
	}
	d.phase = d.window.Phase()
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
	missing, counted := d.window.Remaining()
	spent := d.granted > 0 && d.sent-d.sentAt >= d.granted
	if counted && missing > 0 && spent && f.Client.InFlight == 0 {
		d.grant(missing)
	}
}

// plannedStop sets the timer for the next end by the clock: waiting for the
// Frame that shows it would let requests slip through after it.
func (d *driver) plannedStop(now time.Duration) {
	if at, ok := d.window.Deadline(); ok && at > now {
		d.deadline.Reset(at - now)
	} else {
		d.deadline.Stop()
	}
}

// hold stops sending at the end of the window, or of a warm-up that drains.
func (d *driver) hold() {
	switch phase := d.window.Phase(); {
	case phase == Measuring, phase == Warmup && d.plan.warmupDrains():
		d.grant(0)
	}
}

func (d *driver) interrupt() {
	d.grant(0)
	d.runner.Abort()
	d.window.Interrupt()
	d.phase = d.window.Phase()
}

// unload leaves the session without load.
func (d *driver) unload() {
	d.runner.SetBudget(0)
	idle := d.plan.Load
	idle.Concurrency, idle.Rate = 0, 0
	d.runner.SetLoad(idle)
}
