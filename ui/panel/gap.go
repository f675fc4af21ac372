package panel

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe/measure"
	"sonde/probe/slo"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// gap draws every gap between two chunks: time to the right, the gap on a logarithmic
// scale upward, the denser the more gaps there are. The colour is that of their length, the
// same as in the streams. A prefill shows as a stripe, a stall as a lone mark high up, a
// buffering proxy as a floor near zero.
type gap struct {
	ranger chart.Ranger
}

func newGap() *gap { return &gap{ranger: chart.Ranger{Log: true}} }

func (g *gap) Heading(v *View) text.Heading {
	s, t := v.Frame.Client.Gap, v.Theme
	u := unitOf(s)
	name := "gap before each chunk "
	if per := v.Frame.Client.TokensPerChunk; per.OK && per.V <= measure.ManyPerChunk {
		name = "gap before each token "
	}
	hd := text.Heading{Name: name + u.Name, Short: "gap " + u.Name, Column: v.History.Width, Figures: []text.Figure{
		percentile(t, "p50", s, u, t.P50), percentile(t, "p99", s, u, t.P99), percentile(t, "max", s, u, t.Plain),
		text.Fig("n "+count(s.N), t.Dim),
	}}
	if other := v.besideLatency(v.otherNow().Gap, u, "p50", "p99"); other != nil {
		hd.Figures = append(hd.Figures[:2], other...)
	}
	if s.N == 0 {
		hd.Figures = []text.Figure{text.Fig(units.Unknown, t.Dim)}
	}
	hd.Figures = v.ofNow(hd.Figures)
	if per := v.Frame.Client.TokensPerChunk; per.OK && per.V > measure.ManyPerChunk {
		hd.Foot = []text.Figure{text.Fig(theme.SignWarn+" "+units.Sig2(per.V)+" tokens per chunk", t.Warn)}
	}
	return hd
}

func (g *gap) Body(v *View, w, h int) []string {
	if !v.History.Seen.Gaps {
		return text.Because(v.Theme, whyNoSamples(v), w, h)
	}
	p := newPlot(v, w, h, g.scale(v, w), unitOf(v.Frame.Client.Gap).Label)
	var rowOf [history.GapBins]int
	for bin := range rowOf {
		rowOf[bin] = p.Row(history.GapMS(bin))
	}
	var columns [][]uint32
	for _, c := range v.History.Last(p.Cols) {
		rows := make([]uint32, h+1)
		for bin, n := range c.Gaps.Bins {
			rows[rowOf[bin]] += n
		}
		columns = append(columns, rows)
	}
	p.Density(columns, v.gapStyles(rowOf[:], h))
	v.drawOther(p, w)
	return p.Picture()
}

// gapStyles is the style of each of h rows, by the gaps in the middle of it, and that of
// those beyond. rowOf is the row of each bin.
func (v *View) gapStyles(rowOf []int, h int) []lipgloss.Style {
	rows := make([]lipgloss.Style, h+1)
	for row := range rows {
		first, found := slices.BinarySearch(rowOf, row)
		last, _ := slices.BinarySearch(rowOf, row+1)
		if found {
			rows[row] = v.Theme.Gaps[v.gapStep(history.GapMS((first+last-1)/2))]
		}
	}
	return rows
}

// usualGapSteps are the gaps at which a picture takes the next height, and from the third on colour, in
// milliseconds: from 100 on a reader notices, from 250 on the text stands still.
var usualGapSteps = [theme.GapSteps]float64{25, 50, 100, 250}

// gapSteps are these steps, or multiples of the shortest SLO on gaps or TPOT: 1, 2, 4 and 10
// times, as the usual ones are of the first.
func (v *View) gapSteps() [theme.GapSteps]float64 {
	steps, limit := usualGapSteps, 0.0
	for _, s := range append(v.slosOf("tpot"), v.slosOf(slo.Gap)...) {
		if limit == 0 || s.LimitMS < limit {
			limit = s.LimitMS
		}
	}
	for i := range steps {
		if limit > 0 {
			steps[i] *= limit / usualGapSteps[0]
		}
	}
	return steps
}

// gapStep is how many of the steps a gap has reached.
func (v *View) gapStep(ms float64) int {
	n := 0
	for _, step := range v.gapSteps() {
		if ms >= step {
			n++
		}
	}
	return n
}

// gapStepsText are the steps in words: "25, 50, 100 and 250 ms".
func (v *View) gapStepsText() string {
	var texts []string
	steps := v.gapSteps()
	for _, ms := range steps {
		texts = append(texts, units.Short(ms))
	}
	last := len(texts) - 1
	s := strings.Join(texts[:last], ", ") + " and " + texts[last] + " ms"
	if steps != usualGapSteps {
		s += " (1, 2, 4 and 10 times the SLO)"
	}
	return s
}

// scale reaches from the shortest gaps that matter to the very longest: outliers below
// would waste rows, outliers above are the point of the panel.
func (g *gap) scale(v *View, w int) chart.Scale {
	var bounds []float64
	for _, c := range v.History.Last(w) {
		if low, known := c.Gaps.Quantile(0.05); known {
			high, _ := c.Gaps.Quantile(1)
			bounds = append(bounds, low, high)
		}
	}
	return g.ranger.Scale(bounds)
}

func (g *gap) Zoomed(v *View, w, h int) []string {
	s, t := v.Frame.Client.Gap, v.Theme
	u := unitOf(s)
	line := text.Row(w, text.Fig(" "+spanWindow(v.Frame.Client.Window)+", "+u.Name, t.Dim), text.Fig("n "+count(s.N), t.Dim),
		percentile(t, "p50", s, u, t.P50), percentile(t, "p90", s, u, t.Plain),
		percentile(t, "p95", s, u, t.P95), percentile(t, "p99", s, u, t.P99),
		percentile(t, "p999", s, u, t.Plain), percentile(t, "max", s, u, t.Plain),
		percentile(t, "mean", s, u, t.Plain))
	return append([]string{line}, g.Body(v, w, h-1)...)
}

func (g *gap) Explain(v *View) Explanation {
	return Explanation{
		Title: "gap: time between two chunks of one stream",
		Text: []string{
			"The time from one chunk with text to the next, pooled over all streams. It is called \"per token\" only while a chunk carries one token.",
			"The scale is logarithmic. A column is " + units.Span(v.History.Width) + " wide; the denser a cell, the more gaps of that length. The colour is the length, with steps at " + v.gapStepsText() + ".",
			"A prefill in the batch lifts a whole column. A stall stands alone high up. A buffering proxy shows as a floor near zero under a few long gaps.",
		},
		Source: fromClient,
		Now: append(windowNow(v, v.Frame.Client.Gap.N),
			"shared "+fmt.Sprintf("%.0f %% of chunks arrived together with the previous one", 100*v.Frame.Health.CoalescedShare)),
	}
}
