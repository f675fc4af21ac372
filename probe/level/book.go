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
	prior *Tally        // the provisional figures of before the present visit settled
	from  time.Duration // since when the newest visit that counts does
	level *Level        // of Tally; nil: to be computed anew
}

const (
	// maxLevels bounds the loads of a long session; the oldest go.
	maxLevels = 256
	// maxTrailing bounds the levels that wait for their last requests.
	maxTrailing = 16
)

// NewBook makes an empty one that judges by some SLOs.
func NewBook(targets []slo.Target) *Book { return &Book{targets: targets} }

// SLOs are what the levels are judged by.
func (b *Book) SLOs() []slo.Target { return b.targets }

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
	if b.now != nil {
		b.settle(f)
		b.now.span.NoteStop(f)
		b.now.entry.NoteStop(f)
	}
	b.addRequests(f)
	s := b.readings.next(f)
	if b.now != nil {
		b.now.frame(f)
		b.now.entry.frame(f, s)
		b.now.entry.level = nil
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
			b.forget(v.entry.load)
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
	e := b.find(load)
	if e == nil {
		e = &entry{Tally: b.tally(load)}
		b.entries = append(b.entries, e)
		b.entries = b.entries[max(0, len(b.entries)-maxLevels):]
	}
	b.now = &visit{entry: e, number: f.Load.Level, began: Changed(f)}
	b.now.restart(b.now.began)
	if !e.settled {
		b.count(b.now.began)
	}
	return left
}

func (b *Book) tally(load frame.Load) *Tally {
	b.ids++
	t := NewTally(load, b.targets)
	t.id, t.visits, t.settled = b.ids, 0, false
	return t
}

// settle drops what came before the level had settled.
func (b *Book) settle(f *frame.Frame) {
	v := b.now
	if !f.Load.Settled || v.settled {
		return
	}
	v.settled = true
	v.restart(f.At)
	if e := v.entry; !e.settled {
		e.prior = e.Tally
		e.Tally = b.tally(e.load)
		e.settled = true
	}
	b.count(f.At)
}

// count opens the span of the level for the visit that goes on.
func (b *Book) count(from time.Duration) {
	v := b.now
	e := v.entry
	b.trailing = slices.DeleteFunc(b.trailing, func(o *entry) bool { return o == e })
	e.Open(from)
	e.from, e.number, e.since = from, v.number, v.began
	e.visits++
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
			v.request(r)
			if v.counts {
				v.entry.request(r, true)
			}
		}
	}
}

// request takes a request that ended. It counts if it began and ended in the newest visit.
func (e *entry) request(r *measure.Request, inTime bool) {
	// A request that never got to the server has no start of its own.
	began := max(r.Start, r.Intent)
	e.AddRequest(r, inTime && began >= e.from)
	e.level = nil
}

// leave tidies up after a visit: a level that shows nothing is not kept, and one that settled
// at its very end keeps what it had shown until then.
func (b *Book) leave(e *entry) {
	if e.prior != nil && !e.hasResults() {
		e.Tally, e.from = e.prior, e.prior.from
	}
	e.prior = nil
	if !e.hasResults() {
		b.forget(e.load)
		return
	}
	e.dists.compact()
}

func (b *Book) find(load frame.Load) *entry {
	for _, e := range b.entries {
		if e.load == load {
			return e
		}
	}
	return nil
}

func (b *Book) forget(load frame.Load) {
	other := func(e *entry) bool { return e.load == load }
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

func (e *entry) get() *Level {
	if e.level == nil {
		l := e.Level()
		e.level = &l
	}
	return e.level
}

// Present is what the load that is on has shown: in this visit, and in all; not ok without a
// load.
func (b *Book) Present() (v Visit, l Level, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		return Visit{}, Level{}, false
	}
	return b.now.figures(), *b.now.entry.get(), true
}

// Counting is the ID of the level whose figures are of the present, 0 without one.
func (b *Book) Counting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil || !b.now.counts {
		return 0
	}
	return b.now.entry.id
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
