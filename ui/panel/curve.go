package panel

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Curve draws output tokens/s and TTFT p95 against the load, one point for each settled
// level with its spread. The load axis is logarithmic: every doubling is the same distance.
type Curve struct{ rate, ttft chart.Ranger }

// curveHeight is the minimum height of a readable curve.
const curveHeight = 9

// Draw draws the curve on w×h cells.
func (c *Curve) Draw(v *View, w, h int) []string {
	t, points := v.Theme, v.Levels.points()
	if len(points) == 0 || h < curveHeight || w < 20 {
		wayOut := "change the load with ↑ ↓ and wait for \"settled\", or sweep with s"
		if v.Frame.Load.Watch {
			wayOut = frame.Watching
		}
		return chart.Fit([]string{t.Dim.Render(" curve: no settled level yet"), t.Dim.Render(" " + wayOut)}, w, h)
	}
	upper := (h - 3) / 2
	lower := h - 3 - upper
	rate, ttft := c.series(v, points)
	labels := w - min(rate.begin(t, w, upper, 0).Cols, ttft.begin(t, w, lower, 0).Cols)
	lines := []string{text.Row(w, curveHeading(v, points)...)}
	lines = append(lines, rate.draw(v, points, w, upper, labels)...)
	lines = append(lines, text.Row(w, text.Fig(" TTFT p95 ms", t.P95)))
	lines = append(lines, ttft.draw(v, points, w, lower, labels)...)
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
	return append(fs, text.Fig(PromptLength(l)+" → "+OutputLength(l)+" tok", t.Dim))
}

// curveSeries is one of the two plots.
type curveSeries struct {
	points []chart.Point // without their places
	ys     []float64
	style  lipgloss.Style
	mark   rune // in ASCII
	scale  chart.Scale
	label  func(float64) string
	limits []float64
}

func (s *curveSeries) add(y, low, high opt.Float, sign rune) {
	s.points = append(s.points, chart.Point{Y: orNaN(y), Low: orNaN(low), High: orNaN(high), Sign: sign, Style: s.style})
	s.ys = append(s.ys, orNaN(y))
}

func (c *Curve) series(v *View, points []level.Level) (rate, ttft curveSeries) {
	rate = curveSeries{style: v.Theme.First, mark: 'o', label: units.Short}
	ttft = curveSeries{style: v.Theme.P95, mark: '+', label: units.Milliseconds.Label}
	for i := range points {
		r := &points[i]
		rate.add(r.OutTokensPerS, r.SlowestPerS, r.FastestPerS, '●')
		s, sign := r.TTFT, '●'
		if weak(s, "p95") {
			sign = '○' // hollow: too few samples
		}
		ttft.add(s.Value(s.P95), s.Value(s.P50), s.Value(s.P99), sign)
	}
	for _, l := range v.slosOf("ttft") {
		ttft.limits = append(ttft.limits, l.LimitMS)
	}
	c.ttft.Log = true
	rate.scale, ttft.scale = c.rate.Scale(rate.ys), c.ttft.Scale(ttft.ys, ttft.limits)
	return rate, ttft
}

// begin makes an axis of at least that many cells, so that the loads of both plots line up.
func (s *curveSeries) begin(t *theme.Palette, w, h, labels int) *chart.Plot {
	p := chart.New(w, h, s.scale, func(v float64) string { return text.Right(s.label(v), labels-1) }, t.Border)
	p.ASCII = t.ASCII
	return p
}

// draw draws a series on w×h cells, of which the first `labels` are the axis.
func (s *curveSeries) draw(v *View, levels []level.Level, w, h, labels int) []string {
	p, knee := s.begin(v.Theme, w, h, labels), v.Levels.Result.Knee
	at := loadColumns(levels, p.Cols)
	ys, marked := blanks(p.Cols*dotsPerColumn), make([]bool, p.Cols)
	for i := range s.points {
		s.points[i].At, ys[at[i]] = at[i], s.points[i].Y
		if knee != nil && levels[i].Load == knee.At.Load {
			marked[at[i]/dotsPerColumn] = true
		}
	}
	p.Marks(marked, v.Theme.Note)
	for _, y := range s.limits {
		p.Rule(y, v.Theme.Limit)
	}
	for _, q := range s.points {
		p.Spread(q)
	}
	bridge(ys, len(ys)) // between levels a straight line guides the eye
	p.Line(ys, s.style, s.mark)
	for _, q := range s.points {
		p.Point(q)
	}
	return p.Picture()
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

// loadAxis writes the loads below their points, as many as fit, the ends first.
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
