package ui

import (
	"fmt"

	"sonde/ui/chart"
)

// gapPanel draws every gap between two chunks: time to the right, the gap on a
// logarithmic scale upward, the brighter the more gaps there are. A prefill
// shows as a stripe, a stall as a lone mark high up, a buffering proxy as a
// floor near zero.
type gapPanel struct {
	theme  *theme
	ranger chart.Ranger
	rows   rowsOfBins
}

func newGapPanel(t *theme) *gapPanel {
	return &gapPanel{theme: t, ranger: chart.Ranger{Log: true}}
}

func (g *gapPanel) heading(p *picture) heading {
	s, t := p.frame.Client.Gap, g.theme
	u := unitFor(s.P50)
	hd := heading{name: gapName(p) + " " + u.name, short: "gap " + u.name, column: p.history.width, figures: []figure{
		t.percentile("p50", s, s.P50, u, t.p50),
		t.percentile("p99", s, s.P99, u, t.p99),
		t.percentile("max", s, s.Max, u, t.plain),
		{"n " + group(float64(s.N)), t.dim},
	}}
	if s.N == 0 {
		hd.figures = []figure{{unknown, t.dim}}
	}
	if per := p.frame.Client.TokensPerChunk; per.OK && per.V > tokensPerChunkNoted {
		hd.foot = []figure{{signWarn + " " + sig2(per.V) + " tokens per chunk", t.warn}}
	}
	return hd
}

// tokensPerChunkNoted is from where on a gap is no longer a token's.
const tokensPerChunkNoted = 1.2

func gapName(p *picture) string {
	if per := p.frame.Client.TokensPerChunk; per.OK && per.V <= tokensPerChunkNoted {
		return "gap before each token"
	}
	return "gap before each chunk"
}

// gapKey is what the body depends on.
type gapKey struct {
	columns, gaps int
	unit, why     string
}

func (g *gapPanel) key(p *picture, _ bool) any {
	v := p.history.version
	key := gapKey{columns: v.columns, gaps: v.gaps, unit: unitFor(p.frame.Client.Gap.P50).name}
	if v.gaps == 0 {
		key.why = whyNoSamples(p)
	}
	return key
}

func (g *gapPanel) body(p *picture, w, h int) []string {
	if p.history.version.gaps == 0 {
		return g.theme.because(whyNoSamples(p), w, h)
	}
	t, scale := g.theme, g.scale(p, w)
	label := unitFor(p.frame.Client.Gap.P50).label
	plot := chart.PlotWidth(w, label, scale, h)
	shown := p.history.last(plot)
	columns := make([][]uint32, len(shown))
	for i, c := range shown {
		columns[i] = g.rows.of(&c.gaps, h, scale)
	}
	return chart.Density(w, h, chart.DensityOptions{
		Scale: scale, Label: label, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, Shades: t.shades, ASCII: t.ascii,
	}, columns)
}

// scale reaches from the shortest gaps that matter to the very longest: outliers
// below would waste rows, outliers above are the point of the panel.
func (g *gapPanel) scale(p *picture, w int) chart.Scale {
	var bounds []float64
	for _, c := range p.history.last(w) {
		if low, high, ok := c.gaps.quantiles(0.05, 1); ok {
			bounds = append(bounds, low, high)
		}
	}
	return g.ranger.Scale(bounds)
}

func (g *gapPanel) zoomed(p *picture, w, h int) []string {
	s, t := p.frame.Client.Gap, g.theme
	u := unitFor(s.P50)
	line := t.row(w, figure{" " + spanWindow(p.frame.Client.Window) + ", " + u.name, t.dim}, figure{"n " + group(float64(s.N)), t.dim},
		t.percentile("p50", s, s.P50, u, t.p50), t.percentile("p90", s, s.P90, u, t.plain),
		t.percentile("p95", s, s.P95, u, t.p95), t.percentile("p99", s, s.P99, u, t.p99),
		t.percentile("p999", s, s.P999, u, t.plain), t.percentile("max", s, s.Max, u, t.plain),
		t.percentile("mean", s, s.Mean, u, t.plain))
	return append([]string{line}, g.body(p, w, h-1)...)
}

func (g *gapPanel) explain(p *picture) explanation {
	return explanation{
		title: "gap: time between two chunks of one stream",
		text: []string{
			"From one chunk that carries text to the next, pooled over all streams. It is called \"per token\" only while a chunk carries one token.",
			"Logarithmic scale upward; a column is " + span(p.history.width) + "; the brighter a cell, the more gaps fell there in that column.",
			"A prefill in the batch lifts a whole column, a stall stands alone high up, and a buffering proxy leaves a floor near zero under a few long gaps.",
		},
		source: fromClient,
		now: append(windowNow(p, p.frame.Client.Gap.N),
			"coalesced "+fmt.Sprintf("%.0f %% of chunks shared their stamp with the one before", 100*p.frame.Health.CoalescedShare)),
	}
}

// rowsOfBins turns the fine bins of a column into the rows of a chart. The chart
// decides which row a value belongs to; asking it once per bin and scale is
// enough.
type rowsOfBins struct {
	h     int
	scale chart.Scale
	row   []int
}

func (r *rowsOfBins) of(g *gapCounts, h int, s chart.Scale) []uint32 {
	if h <= 0 {
		return nil
	}
	if r.row == nil || r.h != h || r.scale != s {
		*r = rowsOfBins{h: h, scale: s, row: rowOfEachBin(h, s)}
	}
	rows := make([]uint32, h+1)
	for bin, n := range g.bins {
		rows[r.row[bin]] += n
	}
	return rows
}

func rowOfEachBin(h int, s chart.Scale) []int {
	row := make([]int, gapBinCount)
	for bin := range row {
		for at, n := range chart.Bins(h, s, []float32{float32(gapBinMS(bin))}) {
			if n > 0 {
				row[bin] = at
			}
		}
	}
	return row
}
