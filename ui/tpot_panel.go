package ui

import (
	"math"

	"sonde/probe/measure"
	"sonde/ui/chart"
)

func newTPOTPanel(t *theme) panel {
	position := &positionChart{theme: t}
	return &flooredPanel{facts: tpotFloor, latencyPanel: &latencyPanel{
		theme: t, metric: "tpot", name: "TPOT", dot: tpotOf, about: aboutTPOT,
		window: func(c *measure.Client) measure.Summary { return c.TPOT },
		level:  func(v *measure.LevelStats) measure.Summary { return v.TPOT },
		engine: gapGrowth,
		seen:   func(v version) int { return v.tpot },
		notes: func(p *picture) []figure {
			return append([]figure{{"tokens per chunk " + known(p.frame.Client.TokensPerChunk, sig3), t.plain}}, floorNotes(t, tpotFloor(p))...)
		},
		below: position.draw,
	}}
}

var aboutTPOT = explanation{
	title: "TPOT: time per output token",
	text: []string{
		"For each request: from its first to its last token, divided by the tokens after the first chunk. Undefined for answers of one token.",
		"It is a mean over one answer. The gap panel shows what it hides.",
		"Zoomed, a second chart shows the mean gap by position in the answer, over the requests of this level: it rises when decoding slows down as the KV cache grows.",
		"Lines: p50, p95, p99 of the requests that ended in that half column.",
	},
	source: fromClient,
}

// positionChart draws the mean gap by position in the answer.
type positionChart struct {
	theme  *theme
	ranger chart.Ranger
}

// minimum of requests before a shape over positions means something.
const fewestForPositions = 3

func (c *positionChart) draw(p *picture, w, h int) []string {
	at, t := &p.history.decode, c.theme
	u := unitFor(at.typical())
	title := t.dim.Render(" gap by position in the answer, " + u.name)
	if at.n < fewestForPositions || len(at.buckets) < 2 {
		return chart.Fit([]string{title, t.dim.Render(" not enough answers at this level yet")}, w, h)
	}
	values := make([]float64, len(at.buckets))
	for i := range values {
		values[i] = at.buckets[i].value()
	}
	scale := c.ranger.Scale(values)
	plot := chart.PlotWidth(w, u.label, scale, h-2)
	body := chart.Lines(w, h-2, chart.LineOptions{Scale: scale, Label: u.label, LabelStyle: t.border, ASCII: t.ascii},
		chart.Series{Style: t.first, Mark: 'o', Y: stretch(values, plot*dotsPerColumn)})
	axis := pad("0", plot-8) + right(group(float64(len(values)*positionStep)), 8)
	body = append([]string{title}, body...)
	return append(body, t.dim.Render(right(axis, w)))
}

// stretch spreads values over n dots by linear interpolation.
func stretch(values []float64, n int) []float64 {
	out := blanks(n)
	if len(values) == 0 || n < 2 {
		return out
	}
	for i := range out {
		at := float64(i) * float64(len(values)-1) / float64(n-1)
		low := int(math.Floor(at))
		high := min(low+1, len(values)-1)
		out[i] = values[low] + (values[high]-values[low])*(at-float64(low))
	}
	return out
}
