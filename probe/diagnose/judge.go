package diagnose

import (
	"cmp"
	"slices"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
)

// Judge keeps the newest Frames and judges them by all rules. It belongs to one
// goroutine.
type Judge struct {
	history  history
	verdicts []Verdict // nil: to be found anew
	checked  Checked
}

// Checked is what became of every rule, in the order of the table.
type Checked struct {
	Hold         []Rule
	RuledOut     []Rule // judged, and they do not hold
	Inconclusive []Rule // too little data, or a source that does not report it
}

// New makes a Judge that has seen nothing.
func New() *Judge { return &Judge{history: history{levels: level.NewBook(nil), feeds: true}} }

// SetSLOs sets the SLOs to judge by. The book of levels begins anew with them.
func (j *Judge) SetSLOs(targets []slo.Target) {
	j.history.slos = slices.Clone(targets)
	j.history.levels, j.history.feeds = level.NewBook(j.history.slos), true
	j.verdicts = nil
}

// Share makes the Judge compare loads by a Book that somebody else fills, so that the samples
// of a level are kept once; nil if there is nothing to compare with.
func (j *Judge) Share(levels *level.Book) {
	j.history.levels, j.history.feeds = levels, false
	j.verdicts = nil
}

// Add takes the next Frame.
func (j *Judge) Add(f *frame.Frame) {
	j.history.add(f)
	j.verdicts = nil
}

// Book has the levels of all loads that were held.
func (j *Judge) Book() *level.Book { return j.history.levels }

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
		j.verdicts = []Verdict{{Rule: RuleNoData, Text: "nothing has been measured yet"}}
		return
	}
	h.look()
	c := Checked{}
	var found []Verdict
	for _, e := range table {
		result := e.check(h)
		if result.outcome == holds && slices.ContainsFunc(e.unless, func(r Rule) bool { return slices.Contains(c.Hold, r) }) {
			result = absent
		}
		switch result.outcome {
		case holds:
			result.Rule = e.rule
			found = append(found, result.Verdict)
			c.Hold = append(c.Hold, e.rule)
		case ruledOut:
			c.RuledOut = append(c.RuledOut, e.rule)
		default:
			c.Inconclusive = append(c.Inconclusive, e.rule)
		}
	}
	j.verdicts, j.checked = inOrder(found, h), c
}

// inOrder puts the strongest first, with the state of health in its place.
func inOrder(found []Verdict, h *history) []Verdict {
	slices.SortStableFunc(found, func(a, b Verdict) int { return cmp.Compare(b.rank(), a.rank()) })
	switch {
	case len(found) == 0:
		return []Verdict{wellbeing(h)}
	case found[0].Severity == Bad && entryOf(found[0].Rule).standstill:
		return slices.DeleteFunc(found, func(v Verdict) bool { return v.Severity < Warn })
	case found[0].Severity < Warn:
		return beside(found, wellbeing(h))
	}
	return found
}

// beside puts the state of health among remarks: good health, and that nothing can
// be said yet, before those that go with it.
func beside(found []Verdict, state Verdict) []Verdict {
	unwell := func(v Verdict) bool { return !v.aside && entryOf(v.Rule).unwell }
	if state.Severity == Healthy && slices.ContainsFunc(found, unwell) {
		return found
	}
	i := slices.IndexFunc(found, func(v Verdict) bool { return v.aside })
	if i < 0 {
		i = len(found)
	}
	return slices.Insert(found, i, state)
}
