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

// SetSLOs sets the service levels to judge by; none without them.
func (j *Judge) SetSLOs(slos []SLO) {
	j.history.slos = slices.Clone(slos)
	j.verdicts = nil
}

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
	for _, entry := range table {
		if r := entry.new(); r.check(h) == holds {
			v := r.verdict()
			v.Rule = entry.name
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b Verdict) int { return cmp.Compare(b.rank(), a.rank()) })
	switch {
	case len(found) == 0:
		found = append(found, wellbeing(h))
	case found[0].Level == Bad && standsStill[found[0].Rule]:
		// Remarks on how it ran are of another time.
		found = slices.DeleteFunc(found, func(v Verdict) bool { return v.Level < Warn })
	case found[0].Level < Warn:
		found = beside(found, wellbeing(h))
	}
	return found
}

// beside puts the state of health among remarks: good health, and that nothing can
// be said yet, before those that go with it.
func beside(found []Verdict, state Verdict) []Verdict {
	if state.Level == Healthy && slices.ContainsFunc(found, unwell) {
		return found
	}
	i := 0
	for i < len(found) && !found[i].aside {
		i++
	}
	return slices.Insert(found, i, state)
}

// rank sorts verdicts: by level, with those that go with good health last.
func (v Verdict) rank() int {
	if v.aside {
		return int(Healthy)
	}
	return int(v.Level)
}

// standsStill names the rules that find nothing going on any more.
var standsStill = map[string]bool{"all_fail": true, "stalled": true, "hang": true}

// unwell tells that a remark, though only that, stands against good health.
func unwell(v Verdict) bool {
	switch v.Rule {
	case "few_fail", "slow_decode", "bandwidth_bound", "host_bound":
		return !v.aside
	}
	return false
}
