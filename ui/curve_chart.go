package ui

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/sweep"
	"sonde/ui/chart"
)

// curveChart draws output tokens/s and TTFT p95 against the load, one point for each
// settled level with its spread. The axis of loads is logarithmic: every doubling is
// as far.
type curveChart struct{ rate, ttft chart.Ranger }

// curveHeight is the least height of a readable curve.
const curveHeight = 9

func (c *curveChart) draw(t *theme, p *picture, w, h int) []string {
	points := p.levels.points()
	if len(points) == 0 || h < curveHeight || w < 20 {
		return chart.Fit([]string{t.dim.Render(" curve: no settled level yet"),
			t.dim.Render(" step with ↑ ↓ and wait for \"settled\", or sweep with s")}, w, h)
	}
	upper := (h - 3) / 2
	rate := c.rateSeries(t, p, points)
	ttft := c.ttftSeries(t, p, points)
	labels := max(axisWidth(w, upper, rate), axisWidth(w, h-upper-3, ttft))
	lines := []string{t.row(w, c.heading(t, p, points)...)}
	lines = append(lines, rate.plot(t, points, w, upper, labels)...)
	lines = append(lines, t.row(w, figure{" TTFT p95 ms", t.p95}))
	lines = append(lines, ttft.plot(t, points, w, h-upper-3, labels)...)
	return append(lines, t.dim.Render(loadAxis(points, w, labels)))
}

// heading names the upper plot, the knee and the largest load within the service
// levels, and the lengths that all points have in common.
func (c *curveChart) heading(t *theme, p *picture, points []sweep.Row) []figure {
	of := points[0].Load
	against := "by concurrency"
	if of.Rate > 0 {
		against = "by requests/s"
	}
	fs := []figure{{" output tok/s", t.first}, {against, t.dim}}
	if k := p.levels.result.Knee; k != nil {
		fs = append(fs, figure{"knee " + amountText(k.At.Load), t.note})
	}
	if best := p.levels.result.Boundary.Best; best != nil {
		fs = append(fs, figure{signGood + " SLO ≤ " + amountText(best.Load), t.good})
	}
	return append(fs, figure{promptLength(of) + " → " + group(float64(of.OutputTokens)) + " tok", t.dim})
}

// curveSeries is one of the two plots.
type curveSeries struct {
	of     func(r *sweep.Row) float64
	weak   func(r *sweep.Row) bool // too few samples for a fact
	spread func(r *sweep.Row) (low, high float64)
	style  lipgloss.Style
	mark   rune // in ASCII
	scale  chart.Scale
	label  func(float64) string
	limits []chart.Rule
	kneeAt int // number of the point, −1 = none
}

func (c *curveChart) rateSeries(t *theme, p *picture, points []sweep.Row) *curveSeries {
	s := &curveSeries{
		of: func(r *sweep.Row) float64 { return r.OutTokensPerS.Or(math.NaN()) },
		spread: func(r *sweep.Row) (float64, float64) {
			return r.SlowestPerS.Or(math.NaN()), r.FastestPerS.Or(math.NaN())
		},
		weak:  func(*sweep.Row) bool { return false },
		style: t.first, mark: 'o', label: short, kneeAt: kneeIndex(p, points),
	}
	s.scale = c.rate.Scale(s.values(points))
	return s
}

func (c *curveChart) ttftSeries(t *theme, p *picture, points []sweep.Row) *curveSeries {
	s := &curveSeries{
		of: func(r *sweep.Row) float64 { return orNaN(r.TTFT.P95, r.TTFT.N > 0) },
		spread: func(r *sweep.Row) (float64, float64) {
			return orNaN(r.TTFT.P50, r.TTFT.N > 0), orNaN(r.TTFT.P99, r.TTFT.N > 0)
		},
		weak:  func(r *sweep.Row) bool { return weak(r.TTFT, "p95") },
		style: t.p95, mark: '+', label: milliseconds.label, kneeAt: kneeIndex(p, points),
	}
	c.ttft.Log = true
	values := [][]float64{s.values(points)}
	for _, l := range p.limits("ttft") {
		values = append(values, []float64{l.LimitMS})
		s.limits = append(s.limits, chart.Rule{Y: l.LimitMS, Style: t.limit})
	}
	s.scale = c.ttft.Scale(values...)
	return s
}

func (s *curveSeries) values(points []sweep.Row) []float64 {
	ys := make([]float64, len(points))
	for i := range points {
		ys[i] = s.of(&points[i])
	}
	return ys
}

func orNaN(v float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return v
}

// kneeIndex is which of the points is the knee, −1 if none is.
func kneeIndex(p *picture, points []sweep.Row) int {
	k := p.levels.result.Knee
	if k == nil {
		return -1
	}
	for i := range points {
		if points[i].Load == k.At.Load {
			return i
		}
	}
	return -1
}

// axisWidth is how many cells the labels of a plot take.
func axisWidth(w, h int, s *curveSeries) int { return w - chart.PlotWidth(w, s.label, s.scale, h) }

// plot draws a series on w×h cells, of which the first `labels` are the axis, so that
// both plots have the same loads below each other.
func (s *curveSeries) plot(t *theme, points []sweep.Row, w, h, labels int) []string {
	own := axisWidth(w, h, s)
	label := s.label
	if own < labels { // as wide as the other plot's
		label = func(v float64) string { return right(s.label(v), labels-1) }
	}
	at := loadColumns(points, w-labels)
	ys := blanks((w - labels) * dotsPerColumn)
	o := chart.LineOptions{Scale: s.scale, Label: label, LabelStyle: t.border, MarkStyle: t.note, Rules: s.limits, ASCII: t.ascii}
	for i := range points {
		y := s.of(&points[i])
		ys[at[i]] = y
		low, high := s.spread(&points[i])
		o.Points = append(o.Points, chart.Point{At: at[i], Y: y, Low: low, High: high, Sign: t.pointSign(s.mark, s.weak(&points[i])), Style: s.style})
	}
	if s.kneeAt >= 0 {
		o.Marks = []int{at[s.kneeAt] / dotsPerColumn}
	}
	bridge(ys, len(ys)) // between levels a straight line guides the eye
	return chart.Lines(w, h, o, chart.Series{Style: s.style, Mark: s.mark, Y: ys})
}

// pointSign is a level's sign, hollow where too few samples stand behind it.
func (t *theme) pointSign(mark rune, weak bool) rune {
	switch {
	case t.ascii:
		return mark
	case weak:
		return '○'
	}
	return '●'
}

// loadColumns places the points on the dots of a plot of w cells, by the logarithm
// of their load.
func loadColumns(points []sweep.Row, w int) []int {
	at := make([]int, len(points))
	dots := max(1, w*dotsPerColumn)
	low, high := math.Log(points[0].Amount()), math.Log(points[len(points)-1].Amount())
	for i := range points {
		share := 0.5 // a single level stands in the middle
		if high > low {
			share = (math.Log(points[i].Amount()) - low) / (high - low)
		}
		at[i] = int(math.Round(share * float64(dots-1)))
	}
	return at
}

// loadAxis writes the loads below their points, as many as have room, the ends
// first.
func loadAxis(points []sweep.Row, w, labels int) string {
	line := []rune(right("", w))
	order := []int{0, len(points) - 1}
	for i := 1; i < len(points)-1; i++ {
		order = append(order, i)
	}
	at := loadColumns(points, w-labels)
	for _, i := range order {
		text := []rune(amountText(points[i].Load))
		from := min(max(labels+at[i]/dotsPerColumn-len(text)/2, 0), w-len(text))
		if free(line, from-1, from+len(text)+1) {
			copy(line[from:], text)
		}
	}
	axis := string(line)
	if unit := "load "; free(line, 0, len(unit)) {
		axis = unit + string(line[len(unit):])
	}
	return ansi.Truncate(axis, w, "")
}

// free tells whether the cells from a up to before b are blank; those beyond the line
// are.
func free(line []rune, a, b int) bool {
	for i := max(a, 0); i < min(b, len(line)); i++ {
		if line[i] != ' ' {
			return false
		}
	}
	return true
}
