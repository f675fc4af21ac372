package diagnose

import (
	"cmp"
	"slices"

	"sonde/probe"
)

// Judge keeps the newest Frames and judges them by all rules. It belongs to one
// goroutine.
type Judge struct {
	history  history
	verdicts []Verdict // nil: to be found anew
}

// New makes a Judge that has seen nothing.
func New() *Judge { return &Judge{} }

// Add takes the next Frame.
func (j *Judge) Add(f *probe.Frame) {
	j.history.add(f)
	j.verdicts = nil
}

// Verdicts are all that hold now, strongest first; there is always one.
func (j *Judge) Verdicts() []Verdict {
	if j.verdicts == nil {
		j.verdicts = judge(&j.history)
	}
	return slices.Clone(j.verdicts)
}

// Strongest is the first of Verdicts.
func (j *Judge) Strongest() Verdict { return j.Verdicts()[0] }

func judge(h *history) []Verdict {
	if v, early := nothingYet(h); early {
		return []Verdict{v}
	}
	found := []Verdict{}
	for _, newRule := range table {
		if r := newRule(); r.check(h) == holds {
			found = append(found, r.verdict())
		}
	}
	slices.SortStableFunc(found, func(a, b Verdict) int { return cmp.Compare(b.Level, a.Level) })
	if len(found) == 0 || found[0].Level < Warn {
		found = append(found, wellbeing(h))
	}
	return found
}
