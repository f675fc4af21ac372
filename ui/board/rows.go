package board

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/canary"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/panel"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Sizes of the screen.
const (
	floorWidth, floorHeight = 60, 16
	wide                    = 110
	tall                    = 30
	mostName                = 44 // cells of a target's name
	sparkWidth, sparkWide   = 12, 24
)

// draw makes the picture that View hands out.
func (m *model) draw() {
	if m.w < floorWidth || m.h < floorHeight {
		words := fmt.Sprintf("too small: need %d×%d, have %d×%d; the probes go on", floorWidth, floorHeight, m.w, m.h)
		m.finish(text.Wrap(words, m.w))
		return
	}
	lines := []string{m.title()}
	switch m.view {
	case viewRows:
		lines = append(lines, m.overview(m.h-2)...)
	case viewDetails:
		lines = append(lines, m.details(m.h-2)...)
	case viewHelp:
		lines = append(lines, m.box("keys", m.help(m.w-2), m.h-2)...)
	}
	m.finish(append(lines, m.keyLine()))
}

// finish makes the lines exactly as large as the screen.
func (m *model) finish(lines []string) {
	m.content = strings.Join(chart.Fit(lines, m.w, m.h), "\n")
	if m.theme.ASCII {
		m.content = strings.Map(theme.ToASCII, m.content)
	}
}

// title says how many targets are in each state.
func (m *model) title() string {
	t := m.theme
	counts := map[canary.State]int{}
	for i := range m.rows {
		counts[m.rows[i].State]++
	}
	figures := []text.Figure{text.Fig(" sonde canary", t.Bold), text.Fig(units.Count(len(m.rows), "target"), t.Plain)}
	for _, s := range []struct {
		canary.State
		style lipgloss.Style
	}{{canary.Down, t.Bad}, {canary.Failing, t.Warn}, {canary.Slow, t.Warn}, {canary.OK, t.Good}, {canary.Unknown, t.Dim}} {
		if n := counts[s.State]; n > 0 {
			figures = append(figures, text.Fig(fmt.Sprintf("%d %s", n, s.State), s.style))
		}
	}
	figures = append(figures, text.Fig(units.Clock(m.now.Sub(m.began)), t.Dim), text.Fig("at most "+units.Short(float64(m.PerDay))+" tokens a day", t.Dim))
	if m.Serves != "" {
		figures = append(figures, text.Fig(m.Serves, t.Dim))
	}
	return text.Row(m.w, figures...)
}

// overview is the table of all targets, and the verdict of the chosen one.
func (m *model) overview(h int) []string {
	words := 2
	if m.h >= tall {
		words = 4
	}
	head, rows := m.table().Lines(m.theme, m.rows, m.w)
	room := h - len(head) - words - 1
	lines, at := m.withReasons(rows, room)
	first := max(0, min(at-room/2, len(lines)-room))
	foot := ""
	if len(lines) > room {
		foot = m.theme.Dim.Render(fmt.Sprintf(" %d to %d of %d", first+1, first+room, len(lines)))
	}
	lines = chart.Fit(append(head, lines[first:min(len(lines), first+room)]...), m.w, len(head)+room)
	lines = append(lines, foot)
	if len(m.rows) == 0 {
		return lines
	}
	return append(lines, panel.VerdictLines(m.theme, m.rows[m.at()].Verdict, m.w, words)...)
}

// withReasons marks the row of the chosen target, and puts below each one that is not well the
// reason, if all of them find room. at is the place of the chosen one.
func (m *model) withReasons(rows []string, room int) (lines []string, at int) {
	reasons := 0
	for i := range m.rows {
		if unwell(&m.rows[i]) {
			reasons++
		}
	}
	for i, row := range rows {
		if i == m.at() {
			row, at = m.theme.Accent.Render("›")+ansi.TruncateLeft(row, 1, ""), len(lines)
		}
		lines = append(lines, row)
		if unwell(&m.rows[i]) && len(rows)+reasons <= room {
			lines = append(lines, m.theme.Dim.Render(reasonIndent+text.CleanTo(m.rows[i].Verdict.Text, m.w-len(reasonIndent)-1)))
		}
	}
	return lines, at
}

const reasonIndent = "            " // as wide as the state

func unwell(r *canary.Row) bool { return r.State != canary.OK && r.State != canary.Unknown }

// table has the columns of the overview; what finds no room goes from the right.
func (m *model) table() text.Table[canary.Row] {
	name, spark := 0, sparkWidth
	for i := range m.rows {
		name = max(name, ansi.StringWidth(text.Clean(m.rows[i].Label())))
	}
	name = min(name, mostName, max(16, m.w-62))
	if m.w >= wide {
		spark = sparkWide
	}
	left := func(s string, w int) string { return text.Pad(s, w) }
	return text.Table[canary.Row]{Columns: []text.Column[canary.Row]{
		{Name: left("state", 9), Cell: func(r *canary.Row) text.Figure {
			sign, style := panel.VerdictSign(m.theme, r.Verdict.Severity)
			return text.Fig(left(sign+" "+r.State.String(), 9), style)
		}},
		{Name: left("target", name), Width: name, Cell: func(r *canary.Row) text.Figure {
			return text.Fig(left(text.Clean(r.Label()), name), m.theme.Plain)
		}},
		{Name: "TTFT ms", Cell: m.figure(units.Milliseconds.Of, func(r *canary.Row) opt.Float { return r.TTFT })},
		{Name: "TPOT ms", Cell: m.figure(units.Milliseconds.Of, func(r *canary.Row) opt.Float { return r.TPOT })},
		{Name: "tok/s", Cell: m.figure(units.Sig3, (*canary.Row).PerS)},
		{Name: "since", Width: 7, Cell: func(r *canary.Row) text.Figure {
			return text.Fig(units.Span(m.now.Sub(r.Since).Truncate(time.Second)), m.theme.Dim)
		}},
		{Name: left("last TTFTs", spark), Width: spark, Cell: func(r *canary.Row) text.Figure {
			return text.Fig(chart.Spark(spark, values(r.Recent), sparkTop(r), m.theme.First), m.theme.Plain)
		}},
	}}
}

// figure is a cell. The figures of a target that is down are of another time.
func (m *model) figure(write func(float64) string, of func(*canary.Row) opt.Float) func(*canary.Row) text.Figure {
	return func(r *canary.Row) text.Figure {
		if r.State == canary.Down {
			return text.Fig(units.Unknown, m.theme.Dim)
		}
		return text.Fig(units.Known(of(r), write), m.theme.Unless(r.Last.Class != measure.OK))
	}
}

// values are figures for a chart, in which an unknown one is a gap.
func values(list []opt.Float) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = v.Or(math.NaN())
	}
	return out
}

// sparkTop is the height of a curve: twice the usual, so that usual figures lie in the middle
// and one that is slow stands out.
func sparkTop(r *canary.Row) float64 {
	if s := r.Hour.TTFT; s != nil && s.N > 0 {
		return 2 * s.P50
	}
	return 0
}

// box frames a text, from where it is scrolled to.
func (m *model) box(name string, lines []string, h int) []string {
	room := h - 2
	m.scrolled = max(0, min(m.scrolled, len(lines)-room))
	hd := text.Heading{Name: name}
	last := min(len(lines), m.scrolled+room)
	if len(lines) > room {
		hd.Foot = []text.Figure{text.Fig(fmt.Sprintf("↑↓ lines %d to %d of %d", m.scrolled+1, last, len(lines)), m.theme.Dim)}
	}
	return text.Box(m.theme, hd, lines[m.scrolled:last], m.w, h, true)
}

// details are all that is known of the chosen target.
func (m *model) details(h int) []string {
	if len(m.rows) == 0 {
		return m.box("target", nil, h)
	}
	r := &m.rows[m.at()]
	return m.box(text.ClipWords(text.CleanOr(r.Label(), "target"), m.w-6), m.detailLines(r, m.w-2), h)
}

// labelOr is a model's name, or a dash.
func labelOr(s string) string { return text.CleanOr(cmp.Or(s, units.Unknown), units.Unknown) }
