package headless

import (
	"sonde/probe"
	"sonde/probe/sweep"
)

// levelBook keeps the figures of every load that was on, each in the order of its
// first visit. It is fed every Frame once, in order.
type levelBook struct {
	plan   Plan
	runs   []*levelRun
	now    *levelRun
	engine engineWindow // its last word, whatever load is on
	last   *probe.Frame
}

// Add takes the next Frame.
func (b *levelBook) Add(f *probe.Frame) {
	b.last = f
	b.turn(f)
	if b.now != nil {
		b.now.add(f)
	}
	for _, r := range b.runs {
		if r != b.now {
			r.acc.engine.add(f, 0, false)
		}
		for i := range f.Requests {
			if q := &f.Requests[i]; !q.Long {
				r.addRequest(q)
			}
		}
	}
	b.engine.add(f, 0, false)
}

// turn follows the load to another level.
func (b *levelBook) turn(f *probe.Frame) {
	if b.now != nil && b.now.level != f.Load.Level {
		b.now.end(sweep.Changed(f))
		b.now = nil
	}
	if b.now != nil || f.Load.Level == 0 || f.Load.Asked.Concurrency == 0 {
		return
	}
	for _, r := range b.runs {
		if r.load == f.Load.Asked {
			b.now = r
		}
	}
	if b.now == nil {
		b.now = newLevelRun(b.plan, f, b.engine)
		b.runs = append(b.runs, b.now)
	}
	b.now.begin(f)
}
