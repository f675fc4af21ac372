package panel

import (
	"cmp"
	"math"
	"slices"

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
	other := v.otherPoints()
	rate, ttft := c.series(v, points, other)
	labels := w - min(rate.begin(t, w, upper, 0).Cols, ttft.begin(t, w, lower, 0).Cols)
	lines := []string{text.Row(w, curveHeading(v, points)...)}
	all := spanned(points, other)
	lines = append(lines, rate.draw(v, points, all, w, upper, labels)...)
	lines = append(lines, text.Row(w, text.Fig(" TTFT p95 ms", t.P95)))
	lines = append(lines, ttft.draw(v, points, all, w, lower, labels)...)
	return append(lines, t.Dim.Render(loadAxis(slices.Concat(points, other), all, w, labels)))
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
	if len(v.otherPoints()) > 0 {
		fs = append(fs, text.Fig("dotted: "+text.Clean(v.Other.Name), t.Other))
	}
	return append(fs, text.Fig(PromptLength(l)+" → "+OutputLength(l)+" tok", t.Dim))
}

// curveSeries is one of the two plots.
type curveSeries struct {
	points []chart.Point // without their places
	ys     []float64
	other  dotsOf // of another run
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

// dotsOf is the same series of another run.
type dotsOf struct {
	levels []level.Level
	ys     []float64
}

// otherPoints are the settled levels of the other run in our kind of loop, smallest first, one
// for each load.
func (v *View) otherPoints() []level.Level {
	if v.Other == nil {
		return nil
	}
	var out []level.Level
	for i := range v.Other.Levels {
		l := &v.Other.Levels[i]
		first := v.Other.At(l.Load) == l
		if first && l.Settled && l.OutTokensPerS.OK && (l.Load.Rate > 0) == (v.Levels.Result.Curve[0].Load.Rate > 0) {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b level.Level) int { return cmp.Compare(a.Amount(), b.Amount()) })
	return out
}

// loads is a range of them.
type loads struct{ low, high float64 }

// spanned is the range of all levels.
func spanned(lists ...[]level.Level) loads {
	all := loads{math.Inf(1), 0}
	for _, list := range lists {
		for i := range list {
			all.low, all.high = min(all.low, list[i].Amount()), max(all.high, list[i].Amount())
		}
	}
	return all
}

func (c *Curve) series(v *View, points, other []level.Level) (rate, ttft curveSeries) {
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
	rate.other.levels, ttft.other.levels = other, other
	for i := range other {
		rate.other.ys = append(rate.other.ys, orNaN(other[i].OutTokensPerS))
		ttft.other.ys = append(ttft.other.ys, orNaN(other[i].TTFT.Value(other[i].TTFT.P95)))
	}
	c.ttft.Log = true
	rate.scale, ttft.scale = c.rate.Scale(rate.ys, rate.other.ys), c.ttft.Scale(ttft.ys, ttft.limits, ttft.other.ys)
	return rate, ttft
}

// begin makes an axis of at least that many cells, so that the loads of both plots line up.
func (s *curveSeries) begin(t *theme.Palette, w, h, labels int) *chart.Plot {
	p := chart.New(w, h, s.scale, func(v float64) string { return text.Right(s.label(v), labels-1) }, t.Border)
	p.ASCII = t.ASCII
	return p
}

// draw draws a series on w×h cells, of which the first `labels` are the axis.
func (s *curveSeries) draw(v *View, levels []level.Level, all loads, w, h, labels int) []string {
	p, knee := s.begin(v.Theme, w, h, labels), v.Levels.Result.Knee
	at := loadColumns(levels, all, p.Cols)
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
	s.other.draw(v, p, all)
	bridge(ys, len(ys)) // between levels a straight line guides the eye
	p.Line(ys, s.style, s.mark)
	for _, q := range s.points {
		p.Point(q)
	}
	return p.Picture()
}

// draw draws the other run's line, without the spread of its points.
func (d *dotsOf) draw(v *View, p *chart.Plot, all loads) {
	ys := blanks(p.Cols * dotsPerColumn)
	for i, at := range loadColumns(d.levels, all, p.Cols) {
		ys[at] = d.ys[i]
	}
	if len(d.levels) > 0 {
		bridge(ys, len(ys))
		p.Dotted(ys, denseDots, v.Theme.Other, otherMark)
	}
}

// loadColumns places the points on the dots of a plot of w cells, by the logarithm of
// their load.
func loadColumns(points []level.Level, all loads, w int) []int {
	at := make([]int, len(points))
	dots := max(1, w*dotsPerColumn)
	low, high := math.Log(all.low), math.Log(all.high)
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
func loadAxis(points []level.Level, all loads, w, labels int) string {
	line := []rune(text.Right("", w))
	var order []int
	for i := range points {
		order = append(order, i)
	}
	atEnd := func(i int) bool { return points[i].Amount() == all.low || points[i].Amount() == all.high }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case atEnd(a) == atEnd(b):
			return 0
		case atEnd(a):
			return -1
		}
		return 1
	})
	at := loadColumns(points, all, w-labels)
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
