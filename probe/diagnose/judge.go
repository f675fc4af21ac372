package diagnose

import (
	"cmp"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
)

// Judge keeps the newest Frames and judges them by all rules. It belongs to one
// goroutine.
type Judge struct {
	history  history
	course   course
	acute    bool          // what was found last is of the present
	outage   bool          // … and nothing was served
	looked   time.Duration // when the rules were last asked by themselves
	verdicts []Verdict     // nil: to be found anew
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
	j.begin()
}

// Share makes the Judge compare loads by a Book that somebody else fills, so that the samples
// of a level are kept once; nil if there is nothing to compare with.
func (j *Judge) Share(levels *level.Book) {
	j.history.levels, j.history.feeds = levels, false
	j.begin()
}

// begin forgets what was shown: from now on it is judged by something else.
func (j *Judge) begin() {
	j.course, j.acute, j.outage, j.history.clean, j.verdicts = course{}, false, false, 0, nil
}

// Add takes the next Frame.
func (j *Judge) Add(f *frame.Frame) {
	j.history.add(f)
	j.verdicts = nil
	if f.At-j.looked >= judgeEvery || f.At < j.looked {
		j.looked = f.At
		j.judge() // whoever reads, and when: the course is the same
	}
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

// judge finds the verdicts of the newest Frame.
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
	found, c := ask(h)
	if j.outage && !slices.ContainsFunc(found, outage) {
		h.cleanSince(h.now().At) // what failed in it does not fail any more
		found, c = ask(h)
	}
	j.outage = slices.ContainsFunc(found, outage)
	j.verdicts, j.checked = inOrder(j.follow(found), j.wellbeing), c
	j.course.note(j.verdicts[0].Rule)
}

// outage reports whether nothing is served, by a verdict.
func outage(v Verdict) bool { return v.Severity == Bad && entryOf(v.Rule).standstill }

// ask asks every rule once.
func ask(h *history) (found []Verdict, c Checked) {
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
	return found, c
}

// follow lets the course take what was found, and returns what is shown. Once nothing acute
// is left, requests of before say nothing about the present.
func (j *Judge) follow(found []Verdict) []Verdict {
	h, had, was := &j.history, len(j.course.troubles) > 0, j.acute
	now := h.now().At
	var shown []Verdict
	shown, j.acute = j.course.step(now, h.now().Load.Level, found)
	switch {
	case was && !j.acute:
		h.cleanSince(now)
		j.course.drop()
		shown = j.course.shown()
	case had && len(shown) == 0:
		h.cleanSince(j.course.ended)
	}
	remarks := slices.DeleteFunc(found, func(v Verdict) bool { return speaksAgainst(&v) })
	return append(shown, remarks...)
}

// wellbeing is the state of health, or of recovery.
func (j *Judge) wellbeing() Verdict {
	return j.course.health(j.history.now().At, wellbeing(&j.history))
}

// Incidents are the troubles so far that were ever the strongest verdict, by their beginning.
func (j *Judge) Incidents() []Incident {
	j.judge()
	return j.course.incidents()
}

// inOrder puts the strongest first, with the state of health in its place.
func inOrder(found []Verdict, health func() Verdict) []Verdict {
	slices.SortStableFunc(found, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(place(a.Rule), place(b.Rule)))
	})
	switch {
	case len(found) == 0:
		return []Verdict{health()}
	case found[0].Severity == Bad && entryOf(found[0].Rule).standstill:
		return slices.DeleteFunc(found, func(v Verdict) bool { return v.Severity < Warn })
	case found[0].Severity < Warn:
		return beside(found, health())
	}
	return found
}

// beside puts the state of health among remarks: good health, and that nothing can
// be said yet, before those that go with it.
func beside(found []Verdict, state Verdict) []Verdict {
	if state.Rule == RuleRecovering {
		return append([]Verdict{state}, found...)
	}
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
