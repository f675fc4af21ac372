package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// latency draws p50, p95 and p99 over time. TTFT and TPOT are two of them.
type latency struct {
	metric string // as SLOs name it
	name   string
	of     func(ttft, tpot measure.Summary) measure.Summary
	engine pick // the same, as the engine counts it
	seen   func(*history.Seen) bool
	foot   func(*View) []text.Figure                // nil: none
	notes  func(*View) []text.Figure                // further numbers when zoomed
	below  func(v *View, w, h int) (lines []string) // what stands below the chart when zoomed; nil: nothing
	floor  func(*View) []fact                       // what the hardware allows
	about  Explanation
	ranger chart.Ranger
}

func (l *latency) Heading(v *View) text.Heading {
	s := l.window(v)
	t, u := v.Theme, l.unit(v)
	hd := text.Heading{Name: l.name + " " + u.Name, Column: v.History.Width}
	if own, ok := v.engineOwn(s, l.engine); ok {
		hd.Figures = own.figures(t, u)
	} else if s.N == 0 {
		hd.Figures = []text.Figure{text.Fig(units.Unknown, t.Dim)}
	} else {
		hd.Figures = append(l.sloSign(v, s), percentile(t, "p50", s, u, t.P50),
			percentile(t, "p95", s, u, t.P95), percentile(t, "p99", s, u, t.P99), text.Fig("n "+count(s.N), t.Dim))
		hd.Spare = len(hd.Figures) - 2 // the p99: without n the others mean little
		if other := v.besideLatency(l.other(v), u, "p50", "p95"); other != nil {
			hd.Figures, hd.Spare = append(hd.Figures[:hd.Spare], other...), 0
		}
	}
	if v.unserved() > 0 {
		hd.Figures, hd.Spare = v.ofNow(hd.Figures), 0
	}
	if l.foot != nil {
		hd.Foot = l.foot(v)
	}
	return hd
}

// window is the latency in the live window.
func (l *latency) window(v *View) measure.Summary {
	return l.of(v.Frame.Client.TTFT, v.Frame.Client.TPOT)
}

// other is the latency in the live window of the other run.
func (l *latency) other(v *View) measure.Summary {
	w := v.otherNow()
	return l.of(w.TTFT, w.TPOT)
}

// unit is the one of title, axis and table.
func (l *latency) unit(v *View) units.Latency {
	s := l.window(v)
	if own, ok := v.engineOwn(s, l.engine); ok {
		return own.unit()
	}
	return unitOf(s)
}

// whyEmpty is shown while there is nothing to draw; without load of our own it shows what the
// engine reports.
func (l *latency) whyEmpty(v *View, w, h int) []string {
	t := v.Theme
	own, ok := v.engineOwn(l.window(v), l.engine)
	if !ok {
		return text.Because(t, whyNoSamples(v), w, h)
	}
	u := own.unit()
	return text.Instead(t, "in "+u.Name+", estimated from histogram buckets; "+whyNoSamples(v), w, h, " engine metrics, last 60 s:", own.figures(t, u)[1:]...)
}

func (l *latency) Body(v *View, w, h int) []string {
	if !l.seen(&v.History.Seen) {
		return l.whyEmpty(v, w, h)
	}
	t, columns := v.Theme, v.History.Last(w)
	lines := []struct {
		name  string
		style lipgloss.Style
		mark  rune
	}{{"p99", t.P99, '9'}, {"p95", t.P95, '+'}, {"p50", t.P50, 'o'}}
	of := func(name string) value {
		return func(c *history.Column, half int) opt.Float {
			s := l.of(c.Dots[half].TTFT, c.Dots[half].TPOT)
			ms, _ := statistic(name, s)
			return s.Value(ms)
		}
	}
	var ys [][]float64
	for _, line := range lines {
		ys = append(ys, dots(columns, of(line.name)))
	}
	p95, p50 := v.otherDots(w, of("p95")), v.otherDots(w, of("p50"))
	p := newPlot(v, w, h, l.scale(v, append(ys, p95, p50)), l.unit(v).Label)
	p.Dotted(p95, sparseDots, t.Other, otherMark)
	p.Dotted(p50, denseDots, t.Other, otherMark)
	for i, line := range lines {
		shown := ys[i][max(0, len(ys[i])-p.Cols*dotsPerColumn):]
		bridge(shown, bridgeDots)
		p.Line(shown, line.style, line.mark)
	}
	for _, s := range v.slosOf(l.metric) {
		p.Rule(s.LimitMS, t.Limit)
	}
	return p.Picture()
}

// scale follows the lines, p99 first, and an SLO while it is near them: one far above would
// flatten them.
func (l *latency) scale(v *View, ys [][]float64) chart.Scale {
	for _, s := range v.slosOf(l.metric) {
		if s.LimitMS < 3*largest(ys[0]) {
			ys = append(ys, []float64{s.LimitMS})
		}
	}
	return l.ranger.Scale(ys...)
}

// tableWidth is the room for the table of a zoomed panel.
const tableWidth = 34

// Zoomed puts a table of all numbers beside the chart.
func (l *latency) Zoomed(v *View, w, h int) []string {
	if w < 2*tableWidth {
		return l.Body(v, w, h)
	}
	wide := l.tableWidth(v)
	upper := h
	var lower []string
	if l.below != nil && h >= 16 {
		if lower = l.below(v, w-wide, h-h*6/10); lower != nil {
			upper = h * 6 / 10
		}
	}
	charts := append(l.Body(v, w-wide, upper), lower...)
	return text.Beside(l.table(v), wide, charts, w-wide, h)
}

// tableWidth has room for the other run where it has figures.
func (l *latency) tableWidth(v *View) int {
	if l.other(v).N > 0 {
		return tableWidth + 11
	}
	return tableWidth
}

// table lists every statistic of the live window and of the current level, and what the other
// run showed.
func (l *latency) table(v *View) []string {
	f, t := v.Frame, v.Theme
	other := l.other(v)
	beside := func(s string) string {
		if other.N == 0 {
			return ""
		}
		return t.Other.Render(" " + text.Right(s, 10))
	}
	win, lev := l.window(v), l.of(f.Client.Level.TTFT, f.Client.Level.TPOT)
	u := l.unit(v)
	lines := []string{t.Dim.Render(fmt.Sprintf(" %-7s %10s %10s", u.Name, spanWindow(f.Client.Window), "level "+whole(f.Load.Level))) + beside("vs")}
	for _, q := range statistics {
		a, b := cell(t, q.name, win, u, false), cell(t, q.name, lev, u, !f.Load.Settled)
		lines = append(lines, t.Dim.Render(fmt.Sprintf(" %-7s ", q.label))+a+" "+b+beside(units.Known(other.Value(q.value(other)), u.Of)))
	}
	lines = append(lines, t.Dim.Render(" n       ")+fmt.Sprintf("%10s %10s", count(win.N), count(lev.N))+beside(count(other.N)), "")
	for _, s := range v.slosOf(l.metric) {
		lines = append(lines, " "+sloLine(t, s, win))
	}
	for _, n := range append(l.notes(v), floorNotes(t, l.floor(v))...) {
		lines = append(lines, " "+text.Row(tableWidth-2, n))
	}
	return lines
}

func (l *latency) Explain(v *View) Explanation {
	e, s := l.about, l.window(v)
	e.Source = fromClient
	if l.metric == "ttft" && v.Requested.Turns > 1 {
		e.Text = append(slices.Clip(e.Text), aboutTurns)
	}
	e.Now = append(windowNow(v, s.N), "dim a percentile is dim while it has fewer than 10 (p90, p95), 100 (p99) or 1000 (p99.9) samples")
	e.Now = append(e.Now, floorNow(v, l.floor(v))...)
	return e
}

// statistics of a Summary, in the order of the table.
var statistics = []struct {
	name, label string
	quantile    float64
	value       func(measure.Summary) float64
}{
	{"p50", "p50", 0.50, func(s measure.Summary) float64 { return s.P50 }},
	{"p90", "p90", 0.90, func(s measure.Summary) float64 { return s.P90 }},
	{"p95", "p95", 0.95, func(s measure.Summary) float64 { return s.P95 }},
	{"p99", "p99", 0.99, func(s measure.Summary) float64 { return s.P99 }},
	{"p999", "p99.9", 0.999, func(s measure.Summary) float64 { return s.P999 }},
	{"mean", "mean", 0, func(s measure.Summary) float64 { return s.Mean }},
	{"min", "min", 0, func(s measure.Summary) float64 { return s.Min }},
	{"max", "max", 0, func(s measure.Summary) float64 { return s.Max }},
}

// statistic is one of them by its name, and its label, such as p99.9.
func statistic(name string, s measure.Summary) (value float64, label string) {
	for _, q := range statistics {
		if q.name == name {
			return q.value(s), q.label
		}
	}
	return 0, name
}

// unitOf is the unit of a panel that shows all of a distribution, not that of its median.
func unitOf(s measure.Summary) units.Latency { return units.LatencyFor(s.P50, s.Max) }

// percentile is a figure such as "p99 1.21s", dim if it has too few samples.
func percentile(t *theme.Palette, name string, s measure.Summary, u units.Latency, st lipgloss.Style) text.Figure {
	value, label := statistic(name, s)
	if s.N == 0 {
		return text.Fig(label+" "+units.Unknown, t.Dim)
	}
	if weak(s, name) {
		st = t.Dim
	}
	return text.Fig(label+" "+text.Right(u.Of(value), 4), st)
}

// weak reports whether a percentile has too few samples to be relied on.
func weak(s measure.Summary, name string) bool { return slices.Contains(s.Weak(), name) }

// cell is a number of the table, dim when it is weak or not settled.
func cell(t *theme.Palette, name string, s measure.Summary, u units.Latency, dim bool) string {
	written := units.Unknown
	if value, _ := statistic(name, s); s.N > 0 {
		written = u.Of(value)
	}
	return t.Unless(dim || s.N == 0 || weak(s, name)).Render(text.Right(written, 10))
}

// sloLine says whether an SLO holds in the live window.
func sloLine(t *theme.Palette, s slo.Target, win measure.Summary) string {
	name, _, _ := strings.Cut(text.Clean(s.Text), "=")
	line := fmt.Sprintf("%s ≤ %s", name, units.Millis(s.LimitMS))
	switch met, known := holds(s, win); {
	case !known:
		return t.Dim.Render(line + " ?")
	case met:
		return t.Good.Render(theme.SignGood + " " + line + " met")
	}
	return t.Bad.Render(theme.SignBad + " " + line + " missed")
}

// holds reports whether the SLO holds in the live window.
func holds(s slo.Target, win measure.Summary) (met, known bool) {
	for _, q := range statistics {
		if q.quantile == s.Quantile && q.quantile > 0 {
			return q.value(win) <= s.LimitMS, win.N > 0
		}
	}
	return false, false
}

// sloSign is the sign for the title: bad if any SLO is missed, none without an SLO.
func (l *latency) sloSign(v *View, win measure.Summary) []text.Figure {
	var sign []text.Figure
	for _, s := range v.slosOf(l.metric) {
		switch met, known := holds(s, win); {
		case known && !met:
			return []text.Figure{text.Fig(theme.SignBad, v.Theme.Bad)}
		case known:
			sign = []text.Figure{text.Fig(theme.SignGood, v.Theme.Good)}
		}
	}
	return sign
}

// whyNoSamples says what is missing until the first latency can be shown.
func whyNoSamples(v *View) string {
	c := &v.Frame.Client
	switch {
	case !v.Have:
		return "waiting for data"
	case v.Frame.Load.Watch:
		return "watching: there are no requests of our own"
	case c.Failed > 0 && c.OK == 0 && c.LastError != "":
		return "no request has succeeded: " + c.LastError
	case c.Failed > 0 && c.OK == 0:
		return "no request has succeeded"
	case c.OK == 0 && c.ByClass[classLoading] > 0:
		return "the server refuses requests while it loads its model"
	case c.InFlight > 0:
		return "waiting for the first response"
	case v.beforeLoad():
		return stages[v.Frame.Load.Stage].why
	case v.Requested.Concurrency == 0:
		return "no load: press ↑ to start the first stream"
	}
	return "nothing to measure yet"
}

func spanWindow(d time.Duration) string {
	if d <= 0 {
		return "window"
	}
	return fmt.Sprintf("last %d s", int(d.Seconds()))
}
