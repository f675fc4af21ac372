package panel

import (
	"fmt"
	"strings"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Another run lies behind our lines as dots that nothing joins: one in each cell, or one in
// every other cell for the second line of a chart. Both are dim; the shape tells them apart
// without colour.
const (
	denseDots  = 1
	sparseDots = 2
	otherMark  = ',' // in ASCII
)

// otherColumns are those of the other run beside our newest n; none without one.
func (v *View) otherColumns(n int) []*history.Column {
	if v.Other == nil {
		return nil
	}
	return v.Other.Beside(v.History, n, v.ByLevel)
}

// otherDots are the values of the other run for a line; short pauses are bridged.
func (v *View) otherDots(n int, of value) []float64 {
	ys := dots(v.otherColumns(n), of)
	bridge(ys, bridgeDots)
	return ys
}

// otherNow is what the other run showed at the same time or load; nothing without one.
func (v *View) otherNow() history.Window {
	if columns := v.otherColumns(1); len(columns) > 0 && columns[0].Window != nil {
		return *columns[0].Window
	}
	return history.Window{}
}

// besides are figures of the other run, for behind our own in the same order: "vs 95 180". As
// soon as one is unknown there are no more.
func (v *View) besides(write func(float64) string, figures ...opt.Float) []text.Figure {
	var out []text.Figure
	for i, f := range figures {
		if !f.OK {
			break
		}
		written := write(f.V)
		if i == 0 {
			written = "vs " + written
		}
		out = append(out, text.Fig(written, v.Theme.Other))
	}
	return out
}

// besideLatency are percentiles of a latency of the other run, in our unit.
func (v *View) besideLatency(s measure.Summary, u units.Latency, names ...string) []text.Figure {
	var values []opt.Float
	for _, name := range names {
		ms, _ := statistic(name, s)
		values = append(values, s.Value(ms))
	}
	return v.besides(u.Of, values...)
}

// besideMedian are the median and p95 of the other run with their names, for behind figures in
// another order.
func (v *View) besideMedian(s measure.Summary, u units.Latency) []text.Figure {
	p50, p95, st := s.Value(s.P50), s.Value(s.P95), v.Theme.Other
	if !p50.OK {
		return nil
	}
	figures := []text.Figure{text.Fig("vs p50 "+u.Of(p50.V), st)}
	if p95.OK {
		figures = append(figures, text.Fig("p95 "+u.Of(p95.V), st))
	}
	return figures
}

func (v *View) besideTokens() []text.Figure {
	w := v.otherNow()
	return v.besides(units.Tally, w.OutPerS, w.InPerS)
}

func (v *View) besideKV() []text.Figure {
	return v.besides(units.WholePercent, v.otherNow().KV)
}

func (v *View) besideGPU() []text.Figure {
	w := v.otherNow()
	return v.besides(units.WholePercent, w.SM, w.DRAM)
}

// otherName says what the dim lines are, and warns where they are of other work.
func (v *View) otherName() []text.Figure {
	if v.Other == nil {
		return nil
	}
	name := text.Clean(v.Other.Name)
	by := "by time"
	if v.aligned() {
		by = "by load"
	}
	if len(v.Unlike) > 0 {
		kind, _, _ := strings.Cut(v.Unlike[0], ":")
		return []text.Figure{text.Fig(theme.SignWarn+" vs "+name, v.Theme.Warn), text.Fig("another "+kind, v.Theme.Warn)}
	}
	return []text.Figure{text.Fig("vs "+name, v.Theme.Other), text.Fig(by, v.Theme.Other)}
}

// aligned reports whether the other run is aligned by load.
func (v *View) aligned() bool { return v.ByLevel || !v.Other.Timed() }

// otherLines say in full what is compared, in lines of w cells; none without another run.
func (v *View) otherLines(w int) []string {
	if v.Other == nil {
		return nil
	}
	t := v.Theme
	intro := fmt.Sprintf("dim: %s, and the difference of ours from it (shares in points). One run of each side cannot show that a difference is more than chance: sonde compare", text.Clean(v.Other.Name))
	lines := text.Indented(" ", intro, w, t.Dim)
	for _, why := range v.Unlike {
		lines = append(lines, text.Indented(" "+theme.SignWarn+" ", "not the same work: "+text.Clean(why), w, t.Warn)...)
	}
	return lines
}

// drawOther draws the other run's median and p99 gap over the distribution of ours.
func (v *View) drawOther(p *chart.Plot, w int) {
	for _, q := range []float64{0.5, 0.99} {
		p.Dotted(v.otherDots(w, func(c *history.Column, _ int) opt.Float { return c.GapMS(q) }), sparseDots, v.Theme.Bold, otherMark)
	}
}
