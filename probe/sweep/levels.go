package sweep

import (
	"slices"
	"sync"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Levels keeps a row for each load setting that was held. It is fed every Frame, in
// order, by one goroutine; the other methods may be called from any.
type Levels struct {
	mu         sync.Mutex
	slos       []SLO
	confidence float64
	replace    bool
	kept       []*kept // in the order in which the settings were first held
	now        *stretch
}

// kept is a setting with the stretches at it that have ended.
type kept struct {
	load   frame.Load
	past   *stretch // merged
	visits int
	row    Row // of past
}

// maxKept bounds the settings of a long session; the oldest go.
const maxKept = 256

// NewLevels makes an empty table that judges by the given service levels.
func NewLevels(slos []SLO) *Levels { return &Levels{slos: slos, confidence: DefaultConfidence} }

// Replace chooses what another visit to a setting does: replace the figures of the
// earlier ones, or add to them. It holds for visits that begin later.
func (l *Levels) Replace(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replace = yes
}

// Replacing tells which of the two is chosen.
func (l *Levels) Replacing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replace
}

// SLOs are the service levels that rows are judged by.
func (l *Levels) SLOs() []SLO { return l.slos }

// Clear forgets all rows. The setting that is on begins anew.
func (l *Levels) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = nil
	if l.now != nil {
		l.now.restart(l.now.from)
	}
}

// Add takes the next Frame.
func (l *Levels) Add(f *frame.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil && (l.now.level != f.Load.Level || f.Has(frame.EventReset)) {
		l.now.finish(f)
		l.closeNow(f.Has(frame.EventReset))
	}
	if l.now == nil && f.Load.Level > 0 && Amount(f.Load.Asked) > 0 && f.Load.Asked.Concurrency > 0 {
		l.now = newStretch(f, l.slos)
		if l.replace {
			l.forget(l.now.load)
		}
	}
	if l.now != nil {
		l.now.add(f)
	}
}

// closeNow puts the stretch that has ended into the table. One that never settled
// leaves only what no other visit tells better. To drop it forgets its setting
// altogether: earlier visits are part of what it showed.
func (l *Levels) closeNow(drop bool) {
	s := l.now
	l.now = nil
	if s.ok+s.failed == 0 && s.prior != nil {
		s = s.prior // it settled at its very end
	}
	if drop {
		l.forget(s.load)
	}
	if drop || s.ok+s.failed == 0 {
		return
	}
	k := l.find(s.load)
	if k == nil {
		k = &kept{load: s.load, past: s, visits: 1}
		l.kept = append(l.kept, k)
		l.kept = l.kept[max(0, len(l.kept)-maxKept):]
	} else {
		k.past, k.visits = joined(k.past, k.visits, s)
	}
	k.row = k.past.row(l.confidence)
	k.row.Visits = k.visits
}

// joined merges a stretch with those before at the same setting, and counts them.
// Settled figures and provisional ones are never mixed.
func joined(past *stretch, visits int, s *stretch) (*stretch, int) {
	switch {
	case past.settled && !s.settled:
		return past, visits
	case past.settled != s.settled:
		return s, 1
	}
	s.merge(past)
	return s, visits + 1
}

// Loads are the settings of Rows, in their order.
func (l *Levels) Loads() []frame.Load {
	l.mu.Lock()
	defer l.mu.Unlock()
	loads := make([]frame.Load, 0, len(l.kept)+1)
	for _, k := range l.kept {
		loads = append(loads, k.load)
	}
	if l.now != nil && l.find(l.now.load) == nil {
		loads = append(loads, l.now.load)
	}
	return loads
}

func (l *Levels) find(load frame.Load) *kept {
	for _, k := range l.kept {
		if k.load == load {
			return k
		}
	}
	return nil
}

func (l *Levels) forget(load frame.Load) {
	l.kept = slices.DeleteFunc(l.kept, func(k *kept) bool { return k.load == load })
}

// Rows are all settings in the order in which they were first held, the present one
// included.
func (l *Levels) Rows() []Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := make([]Row, 0, len(l.kept)+1)
	present := false
	for _, k := range l.kept {
		r := k.row
		if l.now != nil && l.now.load == k.load {
			present = true
			s, visits := l.withNow(k)
			r = s.row(l.confidence)
			r.Visits = visits
		}
		rows = append(rows, r)
	}
	if l.now != nil && !present {
		rows = append(rows, l.now.row(l.confidence))
	}
	return rows
}

// withNow is what a setting amounts to together with the visit that goes on.
func (l *Levels) withNow(k *kept) (*stretch, int) {
	both := *l.now
	both.latency = measure.NewLatencies(exactSamples)
	both.latency.Merge(&l.now.latency)
	both.judged = slices.Clone(both.judged)
	both.bins.tokens = slices.Clone(both.bins.tokens)
	return joined(k.past, k.visits, &both)
}

// Curve are the rows that can be compared with a load: its lengths, its kind of
// loop; by amount, smallest first.
func Curve(rows []Row, like frame.Load) []Row {
	var out []Row
	for _, r := range rows {
		if comparable(r.Load, like) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		switch d := a.Amount() - b.Amount(); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	return out
}

// present is what the setting that is on has shown: in this visit, and in all.
func (l *Levels) present() (visit, total Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		return Row{}, Row{}
	}
	visit = l.now.row(l.confidence)
	k := l.find(l.now.load)
	if k == nil {
		return visit, visit
	}
	both, visits := l.withNow(k)
	total = both.row(l.confidence)
	total.Visits = visits
	return visit, total
}
