package panel

import (
	"fmt"
	"math"
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

// levelRow is a line of the table: a level of ours, the one of another run at the same load,
// or how ours differs from it.
type levelRow struct {
	shows part
	*level.Level
	other *level.Level // of a difference
}

type part int

const (
	ours part = iota
	theirs
	difference
)

// levelColumn is a column of the table.
type levelColumn struct {
	group, name string
	value       func(*level.Level) opt.Float
	write       func(float64) string
	weak        func(*level.Level) bool        // the figure is in doubt; nil: never
	share       bool                           // differences are points
	special     func(*level.Level) text.Figure // how it is shown, where value is not a number
}

func (c *levelColumn) cell(t *theme.Palette, r *levelRow) text.Figure {
	switch {
	case r.shows == difference:
		return text.Fig(c.change(r), t.Dim)
	case c.special != nil:
		f := c.special(r.Level)
		if r.shows == theirs {
			f.Style = t.Other
		}
		return f
	}
	f := c.value(r.Level)
	return text.Fig(units.Known(f, c.write), t.Unless(r.shows == theirs || !f.OK || c.weak != nil && c.weak(r.Level)))
}

// change is how ours differs: "+12%", or in points for shares; "" where one is unknown.
func (c *levelColumn) change(r *levelRow) string {
	if c.value == nil {
		return ""
	}
	own, other := c.value(r.Level), c.value(r.other)
	switch {
	case !own.OK || !other.OK:
		return ""
	case c.share:
		return signed(100 * (own.V - other.V))
	case other.V == 0:
		return ""
	}
	return signed(100*(own.V/other.V-1)) + "%"
}

// signed writes a difference, rounded.
func signed(v float64) string {
	if v = math.Round(v); v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+.0f", v)
}

// levelColumns are those of the table.
func levelColumns(t *theme.Palette) []levelColumn {
	latency := func(group, name string, s func(*level.Level) measure.Summary, u units.Latency) levelColumn {
		value := func(r *level.Level) opt.Float {
			ms, _ := statistic(name, s(r))
			return s(r).Value(ms)
		}
		return levelColumn{group: group, name: name, value: value, write: u.Of, weak: func(r *level.Level) bool { return weak(s(r), name) }}
	}
	rate := func(group, name string, value func(*level.Level) opt.Float) levelColumn {
		return levelColumn{group: group, name: name, value: value, write: units.Short}
	}
	share := func(name string, value func(*level.Level) opt.Float) levelColumn {
		write := func(v float64) string { return strings.TrimSuffix(units.Percent(opt.Of(v)), " %") }
		return levelColumn{name: name, value: value, write: write, share: true}
	}
	special := func(name string, show func(*theme.Palette, *level.Level) text.Figure) levelColumn {
		return levelColumn{name: name, special: func(r *level.Level) text.Figure { return show(t, r) }}
	}
	ttft := func(r *level.Level) measure.Summary { return r.TTFT }
	tpot := func(r *level.Level) measure.Summary { return r.TPOT }
	return []levelColumn{
		special("load", levelLoad),
		special("n", func(t *theme.Palette, r *level.Level) text.Figure {
			return text.Fig(units.Short(float64(r.OK)), t.Plain)
		}),
		latency("TTFT ms", "p50", ttft, units.Milliseconds), latency("TTFT ms", "p95", ttft, units.Milliseconds), latency("TTFT ms", "p99", ttft, units.Milliseconds),
		latency("TPOT ms", "p50", tpot, units.Milliseconds), latency("TPOT ms", "p95", tpot, units.Milliseconds), latency("TPOT ms", "p99", tpot, units.Milliseconds),
		latency("E2E s", "p95", func(r *level.Level) measure.Summary { return r.E2E }, units.Seconds),
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
		special("err", levelErrors),
		share("good", func(r *level.Level) opt.Float { return r.GoodShare }),
		special("SLO", levelVerdict),
	}
}

// levelTable is the table of levels. Its first column stays where it is while the others
// are shifted.
func levelTable(t *theme.Palette, shift int) text.Table[levelRow] {
	table := text.Table[levelRow]{Shift: shift}
	columns := levelColumns(t)
	for i := range columns {
		c := &columns[i]
		table.Columns = append(table.Columns, text.Column[levelRow]{Group: c.group, Name: c.name, Cell: func(r *levelRow) text.Figure {
			if i == 0 && r.shows != ours {
				return text.Fig([]string{theirs: "vs", difference: "±"}[r.shows], t.Dim)
			}
			return c.cell(t, r)
		}})
	}
	return table
}

// levelRows are our levels, each with the other run's at the same load.
func levelRows(v *View, section []level.Level) []levelRow {
	var rows []levelRow
	for i := range section {
		own := &section[i]
		rows = append(rows, levelRow{ours, own, nil})
		if v.Other == nil {
			continue
		}
		if other := v.Other.At(own.Load); other != nil {
			rows = append(rows, levelRow{theirs, other, nil}, levelRow{difference, own, other})
		}
	}
	return rows
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
		levels := levelRows(v, section)
		head, rows := levelTable(t, shift).Lines(t, levels, w-2)
		for i := range levels {
			if levels[i].shows == ours && levels[i].Load == v.Requested && rows[i] != "" {
				rows[i] = t.Accent.Render("›") + rows[i][1:] // a blank before
			}
		}
		lines = append(append(append(lines, t.Dim.Render(text.Clip(title, w))), head...), rows...)
	}
	const legend = "~ not settled yet · dim: too few samples · each: per stream · wait: mean queue in the engine · ok? miss?: too few samples for 95 % confidence"
	lines = append(append(lines, ""), text.Indented(" ", legend, w, t.Dim)...)
	return append(lines, v.otherLines(w)...)
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
