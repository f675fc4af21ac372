package level

import (
	"slices"
	"sync"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// Book keeps the levels of a session, one for each load that was on. It is fed every Frame,
// in order, by one goroutine; the other methods may be called from any.
type Book struct {
	mu       sync.Mutex
	targets  []slo.Target
	replace  bool
	entries  []*entry // in the order in which the loads were first held
	trailing []*entry // left, with requests that are still in flight
	now      *visit   // nil without load
	readings readings
	ids      int
}

// entry is what there is of one load. While no visit has settled its figures are provisional;
// settled and provisional figures are never mixed.
type entry struct {
	*Tally
	prior  *Tally        // the provisional figures of before the present visit settled
	from   time.Duration // since when the newest visit that counts does
	cached *Level        // of Tally; nil: to be computed anew
}

// visit is the stretch at a load that goes on.
type visit struct {
	entry  *entry
	own    *Tally // what this stretch alone has shown since it settled, if it has; often the entry's
	number int
	began  time.Duration
	counts bool // its figures go into the level
}

// shared reports whether the level is of this visit alone.
func (v *visit) shared() bool { return v.own == v.entry.Tally }

const (
	// maxLevels bounds the loads of a long session; the oldest go.
	maxLevels = 256
	// maxTrailing bounds the levels that wait for their last requests.
	maxTrailing = 16
)

// NewBook makes an empty one that judges by some SLOs.
func NewBook(targets []slo.Target) *Book { return &Book{targets: targets} }

// SLOs are what the levels are judged by.
func (b *Book) SLOs() []slo.Target {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.targets
}

// SetSLOs sets what the levels are judged by. All begin anew: samples are counted by their
// limits when they come.
func (b *Book) SetSLOs(targets []slo.Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.targets = targets
	b.entries, b.trailing, b.now = nil, nil, nil
}

// Replace chooses what another visit to a load does: replace the figures of the earlier
// ones, or add to them. It holds for visits that begin later.
func (b *Book) Replace(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replace = yes
}

// Replacing reports which of the two is chosen.
func (b *Book) Replacing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.replace
}

// Add takes the next Frame.
func (b *Book) Add(f *frame.Frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.turn(f)
	if v := b.now; v != nil {
		b.settle(f)
		v.own.NoteStop(f)
		if !v.shared() {
			v.entry.NoteStop(f)
		}
	}
	b.addRequests(f)
	now, before := b.readings.next(f)
	if v := b.now; v != nil {
		v.own.frame(f, now, before)
		if !v.shared() {
			v.entry.frame(f, now, before)
		}
		v.entry.cached = nil
	}
	if left != nil {
		b.leave(left)
	}
	b.trailing = slices.DeleteFunc(b.trailing, func(e *entry) bool { return e.flow.pending == 0 })
	b.trailing = b.trailing[max(0, len(b.trailing)-maxTrailing):]
}

// turn follows the load to another level, and begins the level anew when the statistics are
// reset. It returns the entry whose visit has ended, which is still to get the requests of
// the Frame.
func (b *Book) turn(f *frame.Frame) (left *entry) {
	reset := f.Has(frame.EventReset)
	if v := b.now; v != nil && (v.number != f.Load.Level || reset) {
		b.now, left = nil, v.entry
		v.entry.end(Changed(f))
		if reset {
			b.forget(v.entry.level.Load)
			left = nil
		} else {
			b.trailing = append(b.trailing, left)
		}
	}
	load := f.Load.Requested
	if b.now != nil || f.Load.Level == 0 || load.Concurrency == 0 {
		return left
	}
	if b.replace {
		b.forget(load)
	}
	v := &visit{own: b.tally(load, Changed(f)), number: f.Load.Level, began: Changed(f)}
	b.now = v
	if v.entry = b.find(load); v.entry == nil {
		v.entry = &entry{Tally: v.own}
		b.entries = append(b.entries, v.entry)
		b.entries = b.entries[max(0, len(b.entries)-maxLevels):]
	}
	if !v.entry.level.Settled {
		b.count(v, v.began)
	}
	return left
}

// tally makes one whose span begins at that moment.
func (b *Book) tally(load frame.Load, from time.Duration) *Tally {
	b.ids++
	t := NewTally(load, b.targets)
	t.level.ID, t.level.Visits, t.level.Settled = b.ids, 0, false
	t.Open(from)
	return t
}

// settle drops what came before the level had settled.
func (b *Book) settle(f *frame.Frame) {
	v, e := b.now, b.now.entry
	if !f.Load.Settled || v.own.level.Settled {
		return
	}
	v.own = b.tally(e.level.Load, f.At)
	v.own.level.Settled = true
	if !e.level.Settled {
		e.prior, e.Tally = e.Tally, v.own
	}
	b.count(v, f.At)
}

// count makes the visit part of the level from then on.
func (b *Book) count(v *visit, from time.Duration) {
	e := v.entry
	b.trailing = slices.DeleteFunc(b.trailing, func(o *entry) bool { return o == e })
	e.Open(from)
	e.from, e.level.Number, e.level.Since = from, v.number, v.began
	e.level.Visits++
	v.counts = true
}

// end closes the span at the moment at which the load was changed.
func (e *entry) end(at time.Duration) {
	for _, t := range []*Tally{e.Tally, e.prior} {
		if t != nil && t.opened && !t.closed {
			t.Close(at)
		}
	}
}

// addRequests hands the requests that ended to the level that is on, and to those that were
// left while they were in flight.
func (b *Book) addRequests(f *frame.Frame) {
	for i := range f.Requests {
		r := &f.Requests[i]
		for _, e := range b.trailing {
			e.request(r, r.End <= e.to)
		}
		if v := b.now; v != nil {
			if !v.shared() {
				v.own.AddRequest(r, began(r) >= v.own.from)
			}
			if v.counts {
				v.entry.request(r, true)
			}
		}
	}
}

// began is when a request began. One that never got to the server has no start of its own.
func began(r *measure.Request) time.Duration { return max(r.Start, r.Intent) }

// request takes a request that ended. It counts if it began and ended in the newest visit.
func (e *entry) request(r *measure.Request, inTime bool) {
	e.AddRequest(r, inTime && began(r) >= e.from)
	e.cached = nil
}

// leave tidies up after a visit: a level that shows nothing is not kept, and one that settled
// at its very end keeps what it had shown until then.
func (b *Book) leave(e *entry) {
	if e.prior != nil && !e.hasResults() {
		e.Tally, e.from = e.prior, e.prior.from
	}
	e.prior = nil
	if !e.hasResults() {
		b.forget(e.level.Load)
		return
	}
	e.dists.compact()
}

func (b *Book) find(load frame.Load) *entry {
	for _, e := range b.entries {
		if e.level.Load == load {
			return e
		}
	}
	return nil
}

func (b *Book) forget(load frame.Load) {
	other := func(e *entry) bool { return e.level.Load == load }
	b.entries, b.trailing = slices.DeleteFunc(b.entries, other), slices.DeleteFunc(b.trailing, other)
}

// Levels are all that there are, in the order in which the loads were first held, the present
// one included.
func (b *Book) Levels() []Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Level, 0, len(b.entries))
	for _, e := range b.entries {
		out = append(out, *e.get())
	}
	return out
}

// Detailed are the Levels with their Distributions, for a file.
func (b *Book) Detailed() []Level {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Level, 0, len(b.entries))
	for _, e := range b.entries {
		l := *e.get()
		l.Distributions = e.dists.distributions()
		out = append(out, l)
	}
	return out
}

func (e *entry) get() *Level {
	if e.cached == nil {
		l := e.Level()
		e.cached = &l
	}
	return e.cached
}

// Present is what the load that is on has shown: in this visit, whose figures begin anew when
// it settles, and in all; not ok without a load.
func (b *Book) Present() (visit, all Level, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		return Level{}, Level{}, false
	}
	all = *b.now.entry.get()
	if b.now.shared() {
		return all, all, true
	}
	return b.now.own.Level(), all, true
}

// Counting is the ID of the level whose figures are of the present, 0 without one.
func (b *Book) Counting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil || !b.now.counts {
		return 0
	}
	return b.now.entry.level.ID
}

// Changed is when the load was changed, in the slice of the first Frame that shows it.
func Changed(f *frame.Frame) time.Duration {
	at := f.At - f.Slice
	for i := range f.Events {
		if e := &f.Events[i]; e.Kind == frame.EventLoad {
			at = e.At
		}
	}
	return at
}
