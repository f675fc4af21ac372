package diagnose

import (
	"cmp"
	"slices"

	"sonde/probe/frame"
)

// Judge keeps the newest Frames and judges them by all rules. It belongs to one
// goroutine.
type Judge struct {
	history  history
	verdicts []Verdict // nil: to be found anew
	checked  Checked
}

// Checked tells what became of every rule, by name, in the order of the table.
type Checked struct {
	Hold         []Rule
	RuledOut     []Rule // judged, and they do not hold
	Inconclusive []Rule // too little data, or a source that does not tell
}

// New makes a Judge that has seen nothing.
func New() *Judge { return &Judge{} }

// SetSLOs sets the service levels to judge by; none without them.
func (j *Judge) SetSLOs(slos []SLO) {
	j.history.slos = slices.Clone(slos)
	j.verdicts = nil
}

// Add takes the next Frame.
func (j *Judge) Add(f *frame.Frame) {
	j.history.add(f)
	j.verdicts = nil
}

// Verdicts are all that hold now, strongest first; there is always one.
func (j *Judge) Verdicts() []Verdict {
	j.judge()
	return slices.Clone(j.verdicts)
}

// Strongest is the first of Verdicts.
func (j *Judge) Strongest() Verdict { return j.Verdicts()[0] }

// Checked sorts the rules by what they find now. The lists are not to be changed.
func (j *Judge) Checked() Checked {
	j.judge()
	return j.checked
}

// judge asks every rule once.
func (j *Judge) judge() {
	h := &j.history
	switch {
	case j.verdicts != nil:
		return
	case len(h.frames) == 0:
		j.verdicts = []Verdict{{Rule: RuleNoData, Text: "nothing has been seen yet"}}
		return
	}
	j.checked = Checked{}
	found := []Verdict{}
	for _, entry := range table {
		switch r := entry.new(); r.check(h) {
		case holds:
			v := r.verdict()
			v.Rule = entry.name
			found = append(found, v)
			j.checked.Hold = append(j.checked.Hold, entry.name)
		case absent:
			j.checked.RuledOut = append(j.checked.RuledOut, entry.name)
		default:
			j.checked.Inconclusive = append(j.checked.Inconclusive, entry.name)
		}
	}
	j.verdicts = inOrder(found, h)
}

// inOrder puts the strongest first, with the state of health in its place.
func inOrder(found []Verdict, h *history) []Verdict {
	slices.SortStableFunc(found, func(a, b Verdict) int { return cmp.Compare(b.rank(), a.rank()) })
	switch {
	case len(found) == 0:
		return []Verdict{wellbeing(h)}
	case found[0].Severity == Bad && standsStill[found[0].Rule]:
		// Remarks on how it ran are of another time.
		return slices.DeleteFunc(found, func(v Verdict) bool { return v.Severity < Warn })
	case found[0].Severity < Warn:
		return beside(found, wellbeing(h))
	}
	return found
}

// beside puts the state of health among remarks: good health, and that nothing can
// be said yet, before those that go with it.
func beside(found []Verdict, state Verdict) []Verdict {
	if state.Severity == Healthy && slices.ContainsFunc(found, unwell) {
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
	return int(v.Severity)
}

// standsStill names the rules that find nothing going on any more.
var standsStill = map[Rule]bool{RuleAllFail: true, RuleStalled: true, RuleHang: true}

// unwell tells that a remark, though only that, stands against good health.
func unwell(v Verdict) bool {
	switch v.Rule {
	case RuleFewFail, RuleSlowDecode, RuleBandwidthBound, RuleHostBound, RuleSlowed:
		return !v.aside
	}
	return false
}
