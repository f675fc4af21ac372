package ui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/sweep"
)

// levelColumn is a column of the table of levels. Neighbours of one group share the
// upper line of the head.
type levelColumn struct {
	group, name string
	of          func(t *theme, r *sweep.Row) figure
}

// levelColumns are all of them. The first stays where it is while the others are
// shifted.
var levelColumns = []levelColumn{
	{"", "load", (*theme).levelLoad},
	{"", "n", func(t *theme, r *sweep.Row) figure { return figure{short(float64(r.N())), t.plain} }},
	{"TTFT ms", "p50", latencyOf(func(r *sweep.Row) measure.Summary { return r.TTFT }, "p50")},
	{"TTFT ms", "p95", latencyOf(func(r *sweep.Row) measure.Summary { return r.TTFT }, "p95")},
	{"TTFT ms", "p99", latencyOf(func(r *sweep.Row) measure.Summary { return r.TTFT }, "p99")},
	{"TPOT ms", "p50", latencyOf(func(r *sweep.Row) measure.Summary { return r.TPOT }, "p50")},
	{"TPOT ms", "p95", latencyOf(func(r *sweep.Row) measure.Summary { return r.TPOT }, "p95")},
	{"TPOT ms", "p99", latencyOf(func(r *sweep.Row) measure.Summary { return r.TPOT }, "p99")},
	{"E2E s", "p95", levelEndToEnd},
	{"tokens/s", "out", rateOf(func(r *sweep.Row) opt.Float { return r.OutTokensPerS })},
	{"tokens/s", "in", rateOf(func(r *sweep.Row) opt.Float { return r.InTokensPerS })},
	{"tokens/s", "each", rateOf(func(r *sweep.Row) opt.Float { return r.StreamTokensPerS })},
	{"", "req/s", rateOf(func(r *sweep.Row) opt.Float { return r.RequestsPerS })},
	{"", "RPM", rateOf((*sweep.Row).RPM)},
	{"", "TPM", rateOf((*sweep.Row).TPM)},
	{"", "KV", shareOf(func(r *sweep.Row) opt.Float { return r.KV })},
	{"", "SM", shareOf(func(r *sweep.Row) opt.Float { return r.SM })},
	{"", "DRAM", shareOf(func(r *sweep.Row) opt.Float { return r.DRAM })},
	{"", "wait", rateOf(func(r *sweep.Row) opt.Float { return r.Waiting })},
	{"", "err", levelErrors},
	{"", "good", shareOf(func(r *sweep.Row) opt.Float { return r.GoodShare })},
	{"", "SLO", levelVerdict},
}

// latencyOf is a percentile in milliseconds, dim when it is weak.
func latencyOf(of func(*sweep.Row) measure.Summary, name string) func(*theme, *sweep.Row) figure {
	return func(t *theme, r *sweep.Row) figure {
		s := of(r)
		for _, q := range statistics {
			if q.name == name && s.N > 0 {
				return figure{short3(q.of(s)), t.unless(weak(s, name))}
			}
		}
		return figure{unknown, t.dim}
	}
}

func levelEndToEnd(t *theme, r *sweep.Row) figure {
	if r.E2E.N == 0 {
		return figure{unknown, t.dim}
	}
	return figure{short3(r.E2E.P95 / 1000), t.unless(weak(r.E2E, "p95"))}
}

func rateOf(of func(*sweep.Row) opt.Float) func(*theme, *sweep.Row) figure {
	return func(t *theme, r *sweep.Row) figure { return figure{known(of(r), short), t.unless(!of(r).OK)} }
}

func shareOf(of func(*sweep.Row) opt.Float) func(*theme, *sweep.Row) figure {
	return func(t *theme, r *sweep.Row) figure {
		return figure{strings.TrimSuffix(percent(of(r)), " %"), t.unless(!of(r).OK)}
	}
}

// unless is the style of a figure, dim where it cannot be trusted.
func (t *theme) unless(doubtful bool) lipgloss.Style {
	if doubtful {
		return t.dim
	}
	return t.plain
}

// short3 writes a latency in at most four cells where that is possible: 9.84, 23.2,
// 840, 1.2k.
func short3(v float64) string {
	if v >= 999.5 {
		return short(v)
	}
	return sig3(v)
}

// levelLoad is the amount; a level that has not settled is marked.
func (t *theme) levelLoad(r *sweep.Row) figure {
	if !r.Settled {
		return figure{"~" + amountText(r.Load), t.dim}
	}
	return figure{amountText(r.Load), t.bold}
}

func levelErrors(t *theme, r *sweep.Row) figure {
	if r.Failed == 0 {
		return figure{"0", t.plain}
	}
	return figure{signBad + short(float64(r.Failed)), t.bad}
}

// levelVerdict is how the level stands to the service levels: with a mark of doubt
// as long as the samples are too few.
func levelVerdict(t *theme, r *sweep.Row) figure {
	switch r.Verdict() {
	case sweep.Meets:
		return figure{signGood + " ok", t.good}
	case sweep.SeemsMeets:
		return figure{signGood + " ok?", t.dim}
	case sweep.SeemsFails:
		return figure{signWarn + " no?", t.warn}
	case sweep.Fails:
		return figure{signBad + " no", t.bad}
	}
	return figure{unknown, t.dim}
}

// levelSections puts the rows that can be compared with each other together, the
// present lengths first.
func levelSections(rows []sweep.Row, wish frame.Load) [][]sweep.Row {
	var sections [][]sweep.Row
	taken := map[frame.Load]bool{}
	add := func(like frame.Load) {
		section := sweep.Curve(rows, like)
		if len(section) == 0 || taken[section[0].Load] {
			return
		}
		for i := range section {
			taken[section[i].Load] = true
		}
		sections = append(sections, section)
	}
	add(wish)
	for i := len(rows) - 1; i >= 0; i-- { // then the newest
		add(rows[i].Load)
	}
	return sections
}

// levelTable writes the rows as a table of w cells, of which the first column stays
// and shift others are left out after it.
func (t *theme) levelTable(rows []sweep.Row, wish frame.Load, shift, w int) []string {
	if len(rows) == 0 {
		return []string{t.dim.Render(" no level yet: a level is a stretch at one load setting (↑ ↓), or a step of a sweep (s)")}
	}
	var lines []string
	for i, section := range levelSections(rows, wish) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.sectionLines(section, wish, shift, w)...)
	}
	return append(lines, "", t.dim.Render(clipWords(" ~ not settled yet · dim: too few samples · ok? no?: too few for 95 % confidence · wait: mean in the engine", w)))
}

func (t *theme) sectionLines(section []sweep.Row, wish frame.Load, shift, w int) []string {
	of := section[0].Load
	lines := []string{t.dim.Render(clip(" prompt "+promptLength(of)+" → output "+group(float64(of.OutputTokens))+" tok, "+cleanOr(promptPrefix(of), "given")+" prompts", w))}
	cells := make([][]figure, len(section))
	for i := range section {
		for _, c := range levelColumns {
			cells[i] = append(cells[i], c.of(t, &section[i]))
		}
	}
	columns := shownColumns(cells, shift, w-2)
	lines = append(lines, t.groupLine(columns), t.headLine(columns))
	for i := range section {
		lead := " "
		if section[i].Load == wish {
			lead = t.accent.Render("›")
		}
		lines = append(lines, lead+rowLine(cells[i], columns))
	}
	return lines
}
