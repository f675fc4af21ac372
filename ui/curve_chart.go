package ui

import (
	"fmt"
	"math"

	"sonde/ui/chart"
)

// curveChart draws output tokens/s and TTFT p95 against concurrency, one point
// for every settled level.
type curveChart struct{ rate, ttft chart.Ranger }

func (c *curveChart) draw(t *theme, p *picture, w, h int) []string {
	cv := &p.history.curve
	if len(cv.points) == 0 || h < 8 || w < 20 {
		return chart.Fit([]string{t.dim.Render(" curve: no settled level yet"),
			t.dim.Render(" step with ↑ ↓ and wait for \"settled\"")}, w, h)
	}
	most := cv.points[len(cv.points)-1].concurrency
	upper := (h - 3) / 2
	lines := []string{t.row(w, figure{" output tok/s", t.first}, figure{"by concurrency", t.dim},
		figure{group(float64(cv.inputTokens)) + " → " + group(float64(cv.outputTokens)) + " tok", t.dim})}
	lines = append(lines, c.plot(t, cv, w, upper, &c.rate, short, most, func(q curvePoint) float64 { return q.outTokensPerS }, chart.Series{Style: t.first, Mark: 'o'})...)
	lines = append(lines, t.p95.Render(" TTFT p95 ms"))
	lines = append(lines, c.plot(t, cv, w, h-upper-3, &c.ttft, milliseconds.label, most, func(q curvePoint) float64 { return q.ttftP95MS }, chart.Series{Style: t.p95, Mark: '+'})...)
	return append(lines, t.dim.Render(right(c.axis(cv), w)))
}

// axis names the concurrency at both ends.
func (c *curveChart) axis(cv *curve) string {
	first, last := cv.points[0].concurrency, cv.points[len(cv.points)-1].concurrency
	if first == last {
		return "concurrency " + group(float64(last))
	}
	return fmt.Sprintf("concurrency %s to %s, %d levels", group(float64(first)), group(float64(last)), len(cv.points))
}

func (c *curveChart) plot(t *theme, cv *curve, w, h int, r *chart.Ranger, label func(float64) string, most int, of func(curvePoint) float64, s chart.Series) []string {
	values := make([]float64, len(cv.points))
	for i, q := range cv.points {
		values[i] = of(q)
	}
	scale := r.Scale(values)
	n := chart.PlotWidth(w, label, scale, h) * dotsPerColumn
	s.Y = blanks(n)
	for i, q := range cv.points {
		at := int(math.Round(float64(q.concurrency) / float64(max(1, most)) * float64(n-1)))
		if at >= 0 && at < n {
			s.Y[at] = values[i]
		}
	}
	bridge(s.Y, n) // between levels a straight line guides the eye
	return chart.Lines(w, h, chart.LineOptions{Scale: scale, Label: label, LabelStyle: t.border, ASCII: t.ascii}, s)
}
