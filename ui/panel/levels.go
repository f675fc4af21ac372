package panel

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/probe/units"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Levels are the rows as they were at one moment, and what those at the current lengths
// say together.
type Levels struct {
	Rows      []level.Level // in the order in which the settings were first held
	Result    sweep.Result
	Replacing bool // another visit to a level replaces its figures
}

// points are the settled levels of the curve, smallest load first.
func (l *Levels) points() []level.Level {
	var settled []level.Level
	for _, r := range l.Result.Curve {
		if r.Settled && r.OutTokensPerS.OK {
			settled = append(settled, r)
		}
	}
	return settled
}

// amountText is a load's number: streams, or requests per second.
func amountText(l frame.Load) string {
	if l.Rate > 0 {
		return units.Sig2(l.Rate) + "/s"
	}
	return strconv.Itoa(l.Concurrency)
}

// LevelColumns is how many columns the table of levels has.
const LevelColumns = 22

// levelTable is the table of levels. Its first column stays where it is while the others
// are shifted.
func levelTable(t *theme.Palette, shift int) text.Table[level.Level] {
	latency := func(group, name string, s func(*level.Level) measure.Summary, perMS float64) text.Column[level.Level] {
		return text.Column[level.Level]{Group: group, Name: name, Cell: func(r *level.Level) text.Figure {
			value, _ := statistic(name, s(r))
			if s(r).N == 0 {
				return text.Fig(units.Unknown, t.Dim)
			}
			return text.Fig(short3(value*perMS), t.Unless(weak(s(r), name)))
		}}
	}
	known := func(group, name string, write func(float64) string, value func(*level.Level) opt.Float) text.Column[level.Level] {
		return text.Column[level.Level]{Group: group, Name: name, Cell: func(r *level.Level) text.Figure {
			return text.Fig(units.Known(value(r), write), t.Unless(!value(r).OK))
		}}
	}
	rate := func(group, name string, value func(*level.Level) opt.Float) text.Column[level.Level] {
		return known(group, name, units.Short, value)
	}
	share := func(name string, value func(*level.Level) opt.Float) text.Column[level.Level] {
		return known("", name, func(v float64) string { return strings.TrimSuffix(units.Percent(opt.Of(v)), " %") }, value)
	}
	ttft := func(r *level.Level) measure.Summary { return r.TTFT }
	tpot := func(r *level.Level) measure.Summary { return r.TPOT }
	return text.Table[level.Level]{Shift: shift, Columns: []text.Column[level.Level]{
		{Name: "load", Cell: func(r *level.Level) text.Figure { return levelLoad(t, r) }},
		{Name: "n", Cell: func(r *level.Level) text.Figure { return text.Fig(units.Short(float64(r.OK)), t.Plain) }},
		latency("TTFT ms", "p50", ttft, 1), latency("TTFT ms", "p95", ttft, 1), latency("TTFT ms", "p99", ttft, 1),
		latency("TPOT ms", "p50", tpot, 1), latency("TPOT ms", "p95", tpot, 1), latency("TPOT ms", "p99", tpot, 1),
		latency("E2E s", "p95", func(r *level.Level) measure.Summary { return r.E2E }, 0.001),
		rate("tokens/s", "out", func(r *level.Level) opt.Float { return r.OutTokensPerS }),
		rate("tokens/s", "in", func(r *level.Level) opt.Float { return r.InTokensPerS }),
		rate("tokens/s", "each", func(r *level.Level) opt.Float { return r.StreamTokensPerS }),
		rate("", "req/s", func(r *level.Level) opt.Float { return r.RequestsPerS }),
		rate("", "RPM", (*level.Level).RPM),
		rate("", "TPM", (*level.Level).TPM),
		share("KV", func(r *level.Level) opt.Float { return r.Engine.KV }),
		share("SM", func(r *level.Level) opt.Float { return r.SM }),
		share("DRAM", func(r *level.Level) opt.Float { return r.DRAM }),
		rate("", "wait", func(r *level.Level) opt.Float { return r.Engine.Waiting }),
		{Name: "err", Cell: func(r *level.Level) text.Figure { return levelErrors(t, r) }},
		share("good", func(r *level.Level) opt.Float { return r.GoodShare }),
		{Name: "SLO", Cell: func(r *level.Level) text.Figure { return levelVerdict(t, r) }},
	}}
}

// short3 writes a latency in at most four cells if possible: 9.84, 23.2, 840, 1.2k.
func short3(v float64) string {
	if v >= 999.5 {
		return units.Short(v)
	}
	return units.Sig3(v)
}

// levelLoad is the amount; a level that has not settled is marked.
func levelLoad(t *theme.Palette, r *level.Level) text.Figure {
	if !r.Settled {
		return text.Fig("~"+amountText(r.Load), t.Dim)
	}
	return text.Fig(amountText(r.Load), t.Bold)
}

func levelErrors(t *theme.Palette, r *level.Level) text.Figure {
	if r.Failed == 0 {
		return text.Fig("0", t.Plain)
	}
	return text.Fig(theme.SignBad+units.Short(float64(r.Failed)), t.Bad)
}

// levelVerdict is how the level compares with the SLOs, with a question mark while the
// samples are too few.
func levelVerdict(t *theme.Palette, r *level.Level) text.Figure {
	word := r.Verdict().Short()
	switch r.Verdict() {
	case slo.Meets:
		return text.Fig(theme.SignGood+" "+word, t.Good)
	case slo.SeemsMeets:
		return text.Fig(theme.SignGood+" "+word, t.Dim)
	case slo.SeemsFails:
		return text.Fig(theme.SignWarn+" "+word, t.Warn)
	case slo.Fails:
		return text.Fig(theme.SignBad+" "+word, t.Bad)
	}
	return text.Fig(units.Unknown, t.Dim)
}

// sections groups the rows that can be compared with each other, the current lengths first.
func sections(rows []level.Level, requested frame.Load) [][]level.Level {
	var all [][]level.Level
	taken := map[frame.Load]bool{}
	add := func(like frame.Load) {
		section := level.Curve(rows, like)
		if len(section) == 0 || taken[section[0].Load] {
			return
		}
		for i := range section {
			taken[section[i].Load] = true
		}
		all = append(all, section)
	}
	add(requested)
	for i := len(rows) - 1; i >= 0; i-- { // then the newest
		add(rows[i].Load)
	}
	return all
}

// LevelTable writes the levels as a table of w cells. The first column stays; shift columns
// after it are omitted.
func LevelTable(v *View, shift, w int) []string {
	t := v.Theme
	if len(v.Levels.Rows) == 0 {
		if v.Frame.Load.Watch {
			return []string{t.Dim.Render(" no levels: " + frame.Watching)}
		}
		return []string{t.Dim.Render(" no level yet: hold a load (↑ ↓) or start a sweep (s); each level gets a row")}
	}
	var lines []string
	for i, section := range sections(v.Levels.Rows, v.Requested) {
		if i > 0 {
			lines = append(lines, "")
		}
		l := section[0].Load
		title := " prompt " + PromptLength(l) + " → output " + OutputLength(l) + " tok, " + text.CleanOr(promptPrefix(l), "given") + " prompts"
		head, rows := levelTable(t, shift).Lines(t, section, w-2)
		for i := range section {
			if section[i].Load == v.Requested && rows[i] != "" {
				rows[i] = t.Accent.Render("›") + rows[i][1:] // a blank before
			}
		}
		lines = append(append(append(lines, t.Dim.Render(text.Clip(title, w))), head...), rows...)
	}
	const legend = "~ not settled yet · dim: too few samples · each: per stream · wait: mean queue in the engine · ok? miss?: too few samples for 95 % confidence"
	return append(append(lines, ""), text.Indented(" ", legend, w, t.Dim)...)
}

// Conclusions are the largest load within the SLOs, and the knee.
func Conclusions(v *View, w int) []string {
	t, r := v.Theme, &v.Levels.Result
	var lines []string
	said := func(sign, sentence string, st lipgloss.Style) {
		lines = append(lines, text.AfterSign(" "+sign+" ", text.Wrap(text.Clean(sentence), w-4), len(sentence), st, t.Dim)...)
	}
	if b := r.Boundary; b != nil && b.Best != nil {
		said(theme.SignGood, b.String(), t.Good)
	} else if b != nil {
		said(theme.SignWarn, b.String(), t.Warn)
	}
	switch k := r.Knee; {
	case k != nil:
		said(theme.SignNote, k.String(), t.Note)
	case len(r.Curve) > 0:
		lines = append(lines, text.Indented(" · ", "no knee yet: "+text.Clean(r.NoKnee), w, t.Dim)...)
	}
	return lines
}
