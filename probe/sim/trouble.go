package sim

import (
	"sync"
	"sync/atomic"
	"time"
)

// trouble holds the faults in force: those that were asked for, and on top of them
// those of the scenario that plays. Requests read them without a lock.
type trouble struct {
	engine *driver
	clump  atomic.Int64 // tokens; of streams under way, too
	now    atomic.Pointer[spell]

	mu           sync.Mutex // guards what follows, and writing now
	asked, scene spell
}

// spell is a time with faults.
type spell struct {
	Faults
	loaded time.Time // when a loading of limited time ends
}

// at are the faults that are left at an instant.
func (s *spell) at(now time.Time) Faults {
	f := s.Faults
	if f.LoadingFor > 0 && !now.Before(s.loaded) {
		f.Loading, f.LoadingFor = false, 0
	}
	return f
}

func newTrouble(d *driver, f Faults) *trouble {
	t := &trouble{engine: d}
	t.ask(f)
	return t
}

// ask replaces the faults that were asked for.
func (t *trouble) ask(f Faults) { t.replace(&t.asked, f) }

// play replaces the faults of the scenario.
func (t *trouble) play(f Faults) { t.replace(&t.scene, f) }

func (t *trouble) replace(which *spell, f Faults) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.Stall > 0 && f.StallEvery == 0 { // it happens once, now
		t.engine.standStill(f.Stall)
		f.Stall = 0
	}
	now := time.Now()
	loaded := now.Add(f.LoadingFor)
	if old := which.at(now); old.LoadingFor > 0 && old.LoadingFor == f.LoadingFor {
		loaded = which.loaded // other faults changed while it loads
	}
	*which = spell{f, loaded}
	base, scene := t.asked.at(now), t.scene.at(now)
	both := &spell{Faults: scene.over(base), loaded: t.asked.loaded}
	if scene.Loading {
		both.loaded = t.scene.loaded
	}
	t.now.Store(both)
	t.clump.Store(int64(both.Clump))
	t.engine.change(both.conditions())
}

// current are the faults in force.
func (t *trouble) current() Faults { return t.now.Load().at(time.Now()) }

// requested are those without a scenario's.
func (t *trouble) requested() Faults {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked.at(time.Now())
}

// refuses is the answer to everything while the model loads, nil otherwise.
func (t *trouble) refuses() *apiError {
	if f := t.current(); f.Loading {
		return errLoading
	}
	return nil
}
