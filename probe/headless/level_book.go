package headless

import (
	"slices"

	"sonde/probe/frame"
	"sonde/probe/sweep"
)

// levelBook keeps the figures of every load that was on, each in the order of its
// first visit. It is fed every Frame once, in order.
//
// It stands beside sweep.Levels, which is fed the same Frames and has the last word on
// what a level is: the book adds the distributions, the errors, the engine's and the
// hardware's figures that a report wants.
type levelBook struct {
	plan    Plan
	replace bool // visits that begin now replace the earlier ones to the same load
	runs    []*levelRun
	now     *levelRun
	engine  engineWindow // its last word, whatever load is on
	last    *frame.Frame
}

// Add takes the next Frame.
func (b *levelBook) Add(f *frame.Frame) {
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

// turn follows the load to another level, and begins the level anew when the
// statistics are reset.
func (b *levelBook) turn(f *frame.Frame) {
	if b.now != nil && (b.now.level != f.Load.Level || f.Has(frame.EventReset)) {
		b.now.end(sweep.Changed(f))
		if f.Has(frame.EventReset) {
			b.forget(b.now.load)
		}
		b.now = nil
	}
	if b.now != nil || f.Load.Level == 0 || f.Load.Asked.Concurrency == 0 {
		return
	}
	if b.replace {
		b.forget(f.Load.Asked)
	}
	if b.now = b.run(f.Load.Asked); b.now == nil {
		b.now = newLevelRun(b.plan, f, b.engine)
		b.runs = append(b.runs, b.now)
	}
	b.now.begin(f)
}

// run finds what there is of a load; nil if it was never on.
func (b *levelBook) run(load frame.Load) *levelRun {
	for _, r := range b.runs {
		if r.load == load {
			return r
		}
	}
	return nil
}

func (b *levelBook) forget(load frame.Load) {
	b.runs = slices.DeleteFunc(b.runs, func(r *levelRun) bool { return r.load == load })
}

// keepOnly forgets the loads that are in no table any more.
func (b *levelBook) keepOnly(loads []frame.Load) {
	b.runs = slices.DeleteFunc(b.runs, func(r *levelRun) bool { return r != b.now && !slices.Contains(loads, r.load) })
}
