package setup

import (
	"context"
	"sync"
	"time"

	"sonde/config"
	"sonde/probe"
	"sonde/probe/compare"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
	"sonde/ui/history"
)

// Beside is a second endpoint under the same load, shown behind the first one while it is measured.
type Beside struct {
	*Measurement
	differs differs // belongs to the screen

	name   string
	width  time.Duration // of a column
	levels *level.Book

	mu       sync.Mutex
	judge    *diagnose.Judge
	timeline *history.Timeline
	newest   *frame.Frame
	run      *history.Other
	runAt    time.Duration // time of the Frame that run was made of
}

// OpenBeside opens the second endpoint of c, and shows it in columns of a width.
func OpenBeside(ctx context.Context, c config.Config, version string, width time.Duration) (*Beside, error) {
	m, err := Open(ctx, *c.Beside, version)
	if err != nil {
		return nil, err
	}
	b := &Beside{
		Measurement: m, name: c.Beside.Canary.Name, width: width,
		levels: level.NewBook(m.Plan.SLOs), judge: diagnose.New(), timeline: history.NewTimeline(width),
	}
	b.SetSLOs(m.Plan.SLOs)
	m.Follow(b.add)
	return b, nil
}

// SetSLOs judges by other targets from now on.
func (b *Beside) SetSLOs(targets []slo.Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.levels.SetSLOs(targets)
	b.judge.SetSLOs(targets)
	b.judge.Share(b.levels)
}

// add takes the next Frame.
func (b *Beside) add(f *frame.Frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.levels.Add(f)
	b.judge.Add(f)
	b.timeline.Add(f)
	b.newest = f
}

// Run is the second endpoint up to now, renewed once a column; nil before its first Frame. An
// error is why there is no more of it.
func (b *Beside) Run() (*history.Other, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch f := b.newest; {
	case f == nil:
		return nil, nil
	case f.Err != nil:
		return b.run, f.Err
	case b.run == nil || f.At-b.runAt >= b.width:
		b.run, b.runAt = history.NewOther(b.name, b.levels.Levels(), b.timeline.Snapshot()), f.At
	}
	return b.run, nil
}

// Verdict is what is wrong there, or that all is well.
func (b *Beside) Verdict() diagnose.Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.judge.Strongest()
}

// Differs is why figures at the load of a Frame answer other questions than those of the second
// endpoint. One goroutine asks.
func (b *Beside) Differs(f *frame.Frame) []string {
	b.mu.Lock()
	there := b.newest
	b.mu.Unlock()
	if there == nil || there.Load.Requested != f.Load.Requested {
		return nil // a change is still on its way
	}
	now := differs{load: f.Load.Requested, model: f.Engine.Identity.Model, there: there.Engine.Identity.Model}
	return b.differs.of(now, f, func() compare.Run { return asRun(there) })
}

// Both hands commands to two Sessions. What a command replies is the first one's reply.
type Both struct {
	*probe.Session
	Second *probe.Session
}

// SetLoad requests the load of both.
func (b Both) SetLoad(l frame.Load) frame.Load {
	l = b.Session.SetLoad(l)
	b.Second.SetLoad(l)
	return l
}

// ChangeLoad changes the load of the first one, and requests the same of the second.
func (b Both) ChangeLoad(change func(*frame.Load)) {
	b.Session.ChangeLoad(change)
	b.Second.SetLoad(b.Session.Load())
}

// SetRamp is how long new streams of both take to begin.
func (b Both) SetRamp(d time.Duration) {
	b.Session.SetRamp(d)
	b.Second.SetRamp(d)
}

// FireLong sends a long prompt to both.
func (b Both) FireLong() {
	b.Session.FireLong()
	b.Second.FireLong()
}

// Abort cancels what is in flight to both.
func (b Both) Abort() {
	b.Session.Abort()
	b.Second.Abort()
}

// ResetStatistics empties what is known of both.
func (b Both) ResetStatistics() {
	b.Session.ResetStatistics()
	b.Second.ResetStatistics()
}

// SetWindow chooses the live window of both.
func (b Both) SetWindow(seconds int) {
	b.Session.SetWindow(seconds)
	b.Second.SetWindow(seconds)
}
