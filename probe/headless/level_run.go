package headless

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/sweep"
)

// levelRun sums up the visits to one load. Its window is open while a visit goes on
// that has settled; the time between two visits is left out like a stop of our own
// process. Until the first visit settles the figures are provisional.
type levelRun struct {
	acc     *Accumulator
	prior   *Accumulator // of the visit before it had settled
	load    frame.Load
	settled bool          // figures are of settled visits
	on      bool          // a visit goes on
	level   int           // its number
	open    bool          // … and it counts
	from    time.Duration // since when it counts
	to      time.Duration // end of the newest visit that counted
	visits  int
}

func newLevelRun(plan Plan, f *frame.Frame, engine engineWindow) *levelRun {
	r := &levelRun{load: f.Load.Asked}
	plan.Load = r.load
	r.restart(plan, engine)
	return r
}

// restart empties the figures, but for the engine's last word: increases count from
// there.
func (r *levelRun) restart(plan Plan, engine engineWindow) {
	plan.Requests, plan.Duration, plan.WarmupRequests, plan.WarmupFor = 0, 0, 0, 0
	r.acc = NewAccumulator(plan)
	r.acc.engine = engineWindow{last: engine.last, have: engine.have, identity: engine.identity}
	r.visits = 0
}

// begin opens a visit with the first Frame that shows its load.
func (r *levelRun) begin(f *frame.Frame) {
	r.on, r.level = true, f.Load.Level
	if !r.settled {
		r.count(sweep.Changed(f))
	}
}

// settle drops what came before the level had settled.
func (r *levelRun) settle(f *frame.Frame) {
	if !f.Load.Settled || r.settled && r.open {
		return
	}
	if !r.settled {
		r.prior = r.acc
		r.restart(r.acc.plan, r.acc.engine)
		r.settled = true
	}
	r.count(f.At)
}

// count opens the window.
func (r *levelRun) count(from time.Duration) {
	t := &r.acc.time
	if r.visits == 0 {
		t.openAt(from)
	} else {
		t.stops = append(t.stops, stop{r.to, from})
		t.closed, t.phase = false, Measuring
	}
	r.open, r.from = true, from
	r.visits++
}

// end closes the visit at the moment at which the load was changed.
func (r *levelRun) end(at time.Duration) {
	if r.prior != nil && !r.acc.hasResults() { // it settled at its very end
		r.acc, r.settled, r.visits, r.from = r.prior, false, 1, r.prior.time.from
	}
	r.prior = nil
	if r.open {
		t := &r.acc.time
		r.to = max(at, r.from)
		t.to, t.closed, t.phase = r.to, true, Draining
	}
	r.acc.rest()
	r.on, r.open = false, false
}

// add takes a Frame of the visit.
func (r *levelRun) add(f *frame.Frame) {
	t := &r.acc.time
	t.noteStop(f)
	t.seen = f.At
	if r.acc.first == nil {
		r.acc.first = f
	}
	r.acc.last = f
	r.settle(f)
	r.acc.addFrame(f)
}

// addRequest takes any request that ended. Whatever of it lies in the window counts for
// the rates; only requests that began and ended in one visit count for the rest.
func (r *levelRun) addRequest(q *measure.Request) {
	if r.visits == 0 || r.acc.time.closed && max(q.Start, q.Intent) > r.to {
		return
	}
	whole := max(q.Start, q.Intent) >= r.from && (r.open || q.End <= r.to)
	if q.Class == measure.Loading {
		if whole {
			r.acc.counts.addLoading()
		}
		return
	}
	t := &r.acc.time
	r.acc.flow.add(q, t)
	r.acc.slo.add(q, t.share(q), whole)
	if !whole {
		return
	}
	t.success = t.success || q.Class == measure.OK
	t.ended++
	r.acc.addMeasured(q)
}
