package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/units"
)

// Incident is a stretch of time in which the server was not well, by one rule.
type Incident struct {
	Rule     Rule
	Severity Severity      // the worst of it
	Text     string        // the sentence of the verdict when it was worst, or last
	From, To time.Duration // since the session began; To of one that goes on is when it was last seen
	Open     bool          // it goes on
}

// Title names the trouble in a few words, as a memory of it.
func (i *Incident) Title() string { return entryOf(i.Rule).title }

// Span is when it was: "43–80 s", or by the clock where that is easier to read.
func (i *Incident) Span() string {
	short := max(i.From, i.To) < 10*time.Minute
	seconds := func(d time.Duration) string { return units.Whole(math.Floor(d.Seconds())) } // rounded down, as by the clock
	switch {
	case short && i.Open:
		return "since " + seconds(i.From) + " s"
	case short:
		return seconds(i.From) + "–" + seconds(i.To) + " s"
	case i.Open:
		return "since " + units.Clock(i.From)
	}
	return units.Clock(i.From) + "–" + units.Clock(i.To)
}

// weight compares incidents of one bad time.
func (i *Incident) weight() time.Duration {
	if i.Severity == Bad {
		return 2 * (i.To - i.From)
	}
	return i.To - i.From
}

// trouble is a verdict that speaks against good health, from when it is first found until it
// has not been found for a while.
type trouble struct {
	verdict    Verdict // as it was found last
	from, seen time.Duration
	worst      Incident
	foremost   bool // it was the strongest at some moment
}

// course stands between the rules and the readers. The rules say what they see at a Frame;
// the course says what is shown: trouble does not flicker, its end is a state of its own, and
// what has passed is remembered.
type course struct {
	troubles []*trouble    // that are shown, in the order in which they were found
	log      []Incident    // that are over, oldest first
	level    int           // of the load
	ended    time.Duration // when a trouble was last found that is over
	began    time.Duration // of the last bad time, from the first trouble until health is shown
	unwell   bool          // since the last trouble health has not been shown again
}

// maxIncidents bounds the log; the oldest go.
const maxIncidents = 200

// speaksAgainst reports whether a verdict is trouble: more than a remark.
func speaksAgainst(v *Verdict) bool {
	e := entryOf(v.Rule)
	return e.title != "" && (v.Severity >= Warn || v.Severity == Info && !v.aside && e.trouble)
}

// step takes what the rules find at a moment, and returns the trouble that is shown. At the
// same moment it can be asked again. acute reports whether a trouble of the moment is left: one
// that a rule sees in the present, and not in requests of before.
func (c *course) step(now time.Duration, level int, found []Verdict) (shown []Verdict, acute bool) {
	changed := level != c.level // what was found under another load says nothing about this one
	c.level = level
	for i := range found {
		if v := &found[i]; speaksAgainst(v) {
			c.see(now, v)
			acute = acute || !entryOf(v.Rule).lasting
		}
	}
	all := slices.Clone(c.troubles)
	c.troubles = slices.DeleteFunc(c.troubles, func(t *trouble) bool {
		cause := explains(all, t, now)
		if cause != nil && now-t.from < sameTrouble {
			cause.from = min(cause.from, t.from) // it was the beginning of that
			return true
		}
		over := now-t.seen >= troubleFades || t.seen < now && (changed || cause != nil)
		if over {
			c.end(t)
		}
		return over
	})
	return c.shown(), acute
}

// explains is a trouble found now that explains one that is not found any more; nil: there is none.
func explains(all []*trouble, t *trouble, now time.Duration) *trouble {
	i := slices.IndexFunc(all, func(other *trouble) bool {
		return other.seen == now && t.seen < now && slices.Contains(entryOf(t.verdict.Rule).unless, other.verdict.Rule)
	})
	if i < 0 {
		return nil
	}
	return all[i]
}

func (c *course) shown() (all []Verdict) {
	for _, t := range c.troubles {
		all = append(all, t.verdict)
	}
	return all
}

func (c *course) see(now time.Duration, v *Verdict) {
	i := slices.IndexFunc(c.troubles, func(t *trouble) bool { return t.verdict.Rule == v.Rule })
	if i < 0 {
		i = len(c.troubles)
		c.troubles = append(c.troubles, c.open(now, v.Rule))
	}
	t := c.troubles[i]
	if !c.unwell {
		c.unwell, c.began = true, now
	}
	t.verdict, t.seen = *v, now
	if v.Severity >= t.worst.Severity {
		t.worst = Incident{Rule: v.Rule, Severity: v.Severity, Text: v.Text}
	}
}

// open begins a trouble. One that was over only just now goes on.
func (c *course) open(now time.Duration, rule Rule) *trouble {
	i := slices.IndexFunc(c.log, func(i Incident) bool { return i.Rule == rule && now-i.To < sameTrouble })
	if i < 0 {
		return &trouble{from: now}
	}
	past := c.log[i]
	c.log = slices.Delete(c.log, i, i+1)
	return &trouble{from: past.From, worst: past, foremost: true}
}

// end puts a trouble into the log, if it was ever the strongest.
func (c *course) end(t *trouble) {
	c.ended = max(c.ended, t.seen)
	if !t.foremost {
		return
	}
	c.log = append(c.log, t.incident())
	if len(c.log) > maxIncidents {
		c.log = slices.Delete(c.log, 0, len(c.log)-maxIncidents)
	}
}

func (t *trouble) incident() Incident {
	i := t.worst
	i.From, i.To = t.from, t.seen
	return i
}

// note marks the strongest of what is shown.
func (c *course) note(strongest Rule) {
	for _, t := range c.troubles {
		t.foremost = t.foremost || t.verdict.Rule == strongest
	}
}

// incidents are those that are over and those that go on, by their beginning.
func (c *course) incidents() []Incident {
	all := slices.Clone(c.log)
	for _, t := range c.troubles {
		if t.foremost {
			i := t.incident()
			i.Open = true
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b Incident) int { return int(a.From - b.From) })
	return all
}

// principal is the incident that the last bad time is remembered by: the longest, where what
// is bad counts twice.
func (c *course) principal() (worst Incident, ok bool) {
	for _, i := range c.log {
		switch {
		case i.To < c.began:
			continue
		case !ok, i.weight() > worst.weight():
			worst, ok = i, true
		}
	}
	return worst, ok
}

// drop ends the troubles that rest on requests of before.
func (c *course) drop() {
	c.troubles = slices.DeleteFunc(c.troubles, func(t *trouble) bool {
		lasting := entryOf(t.verdict.Rule).lasting
		if lasting {
			c.end(t)
		}
		return lasting
	})
}

// health turns the state of health after a trouble into one of recovery, until it has lasted
// and enough was measured since. memory adds what there was for a while after.
func (c *course) health(now time.Duration, state Verdict) Verdict {
	if len(c.troubles) > 0 {
		return state
	}
	was, ok := c.principal()
	if !ok {
		c.unwell = false
		return state
	}
	clean := now - c.ended
	memory := "was: " + was.Title() + ", " + was.Span()
	switch state.Rule {
	case "healthy":
		if c.unwell = c.unwell && clean < recoveredAfter; !c.unwell {
			if clean < remembered {
				state.Evidence = append(slices.Clip(state.Evidence), memory)
			}
			return state
		}
	case "not_enough_data", "quiet":
		if !c.unwell {
			return state
		}
	default:
		return state // there is no load whose health could be shown
	}
	return Verdict{
		Rule: RuleRecovering, Severity: Info,
		Text:     fmt.Sprintf("recovering: clean for %s (%s)", units.Elapsed(clean), memory),
		Evidence: append([]string{"since then " + state.Text}, state.Evidence...),
	}
}
