package panel

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/level"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Curve draws output tokens/s and TTFT p95 against the load, one point for each settled
// level with its spread. The axis of loads is logarithmic: every doubling is as far.
type Curve struct{ rate, ttft chart.Ranger }

// curveHeight is the least height of a readable curve.
const curveHeight = 9

// Draw draws the curve on w×h cells.
func (c *Curve) Draw(v *View, w, h int) []string {
	t, points := v.Theme, v.Levels.points()
	if len(points) == 0 || h < curveHeight || w < 20 {
		return chart.Fit([]string{t.Dim.Render(" curve: no settled level yet"),
			t.Dim.Render(" change the load with ↑ ↓ and wait for \"settled\", or sweep with s")}, w, h)
	}
	upper := (h - 3) / 2
	rate, ttft := c.rateSeries(v, points), c.ttftSeries(v, points)
	labels := max(rate.axisWidth(w, upper), ttft.axisWidth(w, h-upper-3))
	lines := []string{text.Row(w, curveHeading(v, points)...)}
	lines = append(lines, rate.plot(t, points, w, upper, labels)...)
	lines = append(lines, text.Row(w, text.Fig(" TTFT p95 ms", t.P95)))
	lines = append(lines, ttft.plot(t, points, w, h-upper-3, labels)...)
	return append(lines, t.Dim.Render(loadAxis(points, w, labels)))
}

// curveHeading names the upper plot, the knee and the largest load within the SLOs, and
// the lengths that all points have in common.
func curveHeading(v *View, points []level.Level) []text.Figure {
	t, l, r := v.Theme, points[0].Load, &v.Levels.Result
	against := "by concurrency"
	if l.Rate > 0 {
		against = "by requests/s"
	}
	fs := []text.Figure{text.Fig(" output tok/s", t.First), text.Fig(against, t.Dim)}
	if r.Knee != nil {
		fs = append(fs, text.Fig("knee "+amountText(r.Knee.At.Load), t.Note))
	}
	if b := r.Boundary; b != nil && b.Best != nil {
		fs = append(fs, text.Fig(theme.SignGood+" SLO ≤ "+amountText(b.Best.Load), t.Good))
	}
	return append(fs, text.Fig(PromptLength(l)+" → "+count(l.OutputTokens)+" tok", t.Dim))
}

// curveSeries is one of the two plots.
type curveSeries struct {
	points []chart.Point // without their places
	style  lipgloss.Style
	mark   rune // in ASCII
	scale  chart.Scale
	label  func(float64) string
	limits []chart.Rule
	kneeAt int // number of the point, −1 = none
}

func (c *Curve) rateSeries(v *View, points []level.Level) *curveSeries {
	s := &curveSeries{style: v.Theme.First, mark: 'o', label: units.Short, kneeAt: kneeIndex(v, points)}
	for i := range points {
		r := &points[i]
		s.points = append(s.points, chart.Point{Y: orNaN(r.OutTokensPerS), Low: orNaN(r.SlowestPerS), High: orNaN(r.FastestPerS), Sign: '●', Style: s.style})
	}
	s.scale = c.rate.Scale(s.values())
	return s
}

func (c *Curve) ttftSeries(v *View, points []level.Level) *curveSeries {
	s := &curveSeries{style: v.Theme.P95, mark: '+', label: units.Milliseconds.Label, kneeAt: kneeIndex(v, points)}
	for i := range points {
		p := chart.Point{Y: math.NaN(), Low: math.NaN(), High: math.NaN(), Sign: '●', Style: s.style}
		if ttft := points[i].TTFT; ttft.N > 0 {
			p.Y, p.Low, p.High = ttft.P95, ttft.P50, ttft.P99
			if weak(ttft, "p95") {
				p.Sign = '○' // hollow: too few samples stand behind it
			}
		}
		s.points = append(s.points, p)
	}
	c.ttft.Log = true
	values := [][]float64{s.values()}
	for _, l := range v.slosOf("ttft") {
		values = append(values, []float64{l.LimitMS})
		s.limits = append(s.limits, chart.Rule{Y: l.LimitMS, Style: v.Theme.Limit})
	}
	s.scale = c.ttft.Scale(values...)
	return s
}

func (s *curveSeries) values() []float64 {
	ys := make([]float64, len(s.points))
	for i := range s.points {
		ys[i] = s.points[i].Y
	}
	return ys
}

// kneeIndex is which of the points is the knee, −1 if none is.
func kneeIndex(v *View, points []level.Level) int {
	k := v.Levels.Result.Knee
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
func (s *curveSeries) axisWidth(w, h int) int { return w - chart.PlotWidth(w, s.label, s.scale, h) }

// plot draws a series on w×h cells, of which the first `labels` are the axis, so that
// both plots have the same loads below each other.
func (s *curveSeries) plot(t *theme.Palette, points []level.Level, w, h, labels int) []string {
	label := s.label
	if s.axisWidth(w, h) < labels { // as wide as the other plot's
		label = func(v float64) string { return text.Right(s.label(v), labels-1) }
	}
	at := loadColumns(points, w-labels)
	ys := blanks((w - labels) * dotsPerColumn)
	for i := range s.points {
		s.points[i].At = at[i]
		ys[at[i]] = s.points[i].Y
	}
	o := chart.LineOptions{Frame: chart.Frame{Scale: s.scale, Label: label, LabelStyle: t.Border, MarkStyle: t.Note}, Rules: s.limits, Points: s.points, ASCII: t.ASCII}
	if s.kneeAt >= 0 {
		o.Marks = []int{at[s.kneeAt] / dotsPerColumn}
	}
	bridge(ys, len(ys)) // between levels a straight line guides the eye
	return chart.Lines(w, h, o, chart.Series{Style: s.style, Mark: s.mark, Y: ys})
}

// loadColumns places the points on the dots of a plot of w cells, by the logarithm of
// their load.
func loadColumns(points []level.Level, w int) []int {
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

// loadAxis writes the loads below their points, as many as have room, the ends first.
func loadAxis(points []level.Level, w, labels int) string {
	line := []rune(text.Right("", w))
	order := []int{0, len(points) - 1}
	for i := 1; i < len(points)-1; i++ {
		order = append(order, i)
	}
	at := loadColumns(points, w-labels)
	for _, i := range order {
		amount := []rune(amountText(points[i].Load))
		from := min(max(labels+at[i]/dotsPerColumn-len(amount)/2, 0), w-len(amount))
		if free(line, from-1, from+len(amount)+1) {
			copy(line[from:], amount)
		}
	}
	axis := string(line)
	if unit := "load "; free(line, 0, len(unit)) {
		axis = unit + string(line[len(unit):])
	}
	return ansi.Truncate(axis, w, "")
}

// free reports whether the cells from a up to before b are blank; those beyond the line
// are.
func free(line []rune, a, b int) bool {
	for i := max(a, 0); i < min(b, len(line)); i++ {
		if line[i] != ' ' {
			return false
		}
	}
	return true
}
