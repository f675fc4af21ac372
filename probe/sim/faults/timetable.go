package faults

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Engine is what a timetable acts on.
type Engine interface {
	Now() time.Duration       // on the engine's clock
	SetFaults(Faults)         // from the next iteration on
	StandStill(time.Duration) // the next iteration takes this much longer
	Room() Room
	// Inject submits a request that bypasses HTTP. done is called when it is answered,
	// and must not block. hangUp takes it back.
	Inject(prompt []uint32, answerTokens int, done func()) (hangUp func())
	// ServiceTime is the mean time that n requests take per request when the engine,
	// without faults, gets all of them at once.
	ServiceTime(n int, next func() (prompt []uint32, answerTokens int)) time.Duration
}

// Room is the capacity of an engine.
type Room struct {
	Sequences   int // in one iteration
	KVTokens    int
	ModelTokens int // prompt and answer of one request
	Seed        uint64
}

// entry is a line of the timetable: a change of the engine that lasts for some time.
// Instants are on the engine's clock.
type entry struct {
	from, until time.Duration
	every       time.Duration // the same again after this time; 0: once
	change      Faults        // on top of the entries before it
	crowd       *crowd        // other clients in that time; nil: none
}

// Timetable holds the faults in force: those that were requested, and on top of them
// those of the scenario that plays. All changes of a running engine go through it.
type Timetable struct {
	Clump atomic.Int64 // tokens that are sent together, of streams under way too

	engine Engine
	now    atomic.Pointer[Faults] // in force; read by every request, without a lock
	wake   chan struct{}          // there is something to do

	mu        sync.Mutex // guards what follows
	requested []*entry
	scenario  *scene // nil: none plays
}

// NewTimetable makes a timetable whose requested faults are f, which have been checked.
func NewTimetable(e Engine, f Faults) *Timetable {
	t := &Timetable{engine: e, wake: make(chan struct{}, 1)}
	t.now.Store(&Faults{})
	t.request(f)
	return t
}

// Run keeps the timetable until ctx ends.
func (t *Timetable) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := t.engine.Now()
		timer.Stop()
		if next := t.Advance(now); next != Forever {
			timer.Reset(next - now)
		}
		select {
		case <-timer.C:
		case <-t.wake:
		case <-ctx.Done():
			return
		}
	}
}

// Advance does everything that is due by now, and returns the time at which something
// is due again. It has to be called again sooner when a request of a crowd is answered.
func (t *Timetable) Advance(now time.Duration) (next time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.advance(now)
}

func (t *Timetable) advance(now time.Duration) (next time.Duration) {
	next = Forever
	entries := t.requested
	if t.scenario != nil {
		entries = append(entries[:len(entries):len(entries)], &t.scenario.incident)
	}
	var force Faults
	for _, e := range entries {
		for now >= e.until && e.every > 0 {
			e.crowd.leave()
			e.from, e.until = e.from+e.every, e.until+e.every
		}
		switch {
		case now < e.from:
			next = min(next, e.from)
		case now < e.until:
			force = e.change.over(force)
			next = min(next, e.until, e.crowd.advance(now, e.from))
		}
	}
	t.apply(force)
	return next
}

// apply makes f the faults in force.
func (t *Timetable) apply(f Faults) {
	if f == *t.now.Load() {
		return
	}
	t.now.Store(&f)
	t.Clump.Store(int64(f.Clump))
	t.engine.SetFaults(f)
}

// Faults are those in force, with those of a scenario.
func (t *Timetable) Faults() Faults { return *t.now.Load() }

// Requested are the faults in force without those of a scenario.
func (t *Timetable) Requested() Faults {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requestedAt(t.engine.Now())
}

func (t *Timetable) requestedAt(now time.Duration) (f Faults) {
	for _, e := range t.requested {
		if now < e.until {
			f = e.change.over(f)
		}
	}
	return f
}

// SetFaults replaces the requested faults. Those of a scenario stay on top.
func (t *Timetable) SetFaults(f Faults) error {
	if err := f.Check(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.request(f)
	return nil
}

// ChangeFaults replaces the requested faults that a list such as "clump=8,slow=off"
// names; the others stay.
func (t *Timetable) ChangeFaults(list string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.requestedAt(t.engine.Now()).With(list)
	if err == nil {
		t.request(f)
	}
	return err
}

// request makes entries of the faults: a single stall happens at once and has none, a
// loading of limited time has one of its own. While it loads, changes of other faults do
// not move its end.
func (t *Timetable) request(f Faults) {
	if f.Stall > 0 && f.StallEvery == 0 {
		t.engine.StandStill(f.Stall)
		f.Stall = 0
	}
	now := t.engine.Now()
	lasting := &entry{until: Forever, change: f}
	requested := []*entry{lasting}
	if f.Loading > 0 && f.Loading != Forever {
		lasting.change.Loading = 0
		loading := &entry{until: now + f.Loading, change: Faults{Loading: f.Loading}}
		if old := t.requested; len(old) > 1 && now < old[1].until && old[1].change == loading.change {
			loading = old[1]
		}
		requested = append(requested, loading)
	}
	t.requested = requested
	t.advance(now)
	t.rouse()
}

// rouse makes Run look again.
func (t *Timetable) rouse() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}
