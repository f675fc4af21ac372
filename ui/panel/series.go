package panel

import (
	"math"

	"charm.land/lipgloss/v2"

	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// dotsPerColumn is how many dots wide a cell of a line chart is.
const dotsPerColumn = 2

// bridgeDots is the longest pause, in dots, that a line crosses: 4 s at 1 s a column.
// Requests end a few times a second at best, so single dots would not read as a line; a
// longer pause stays a gap.
const bridgeDots = 8

// line is one line of a chart over time.
type line struct {
	style  lipgloss.Style
	mark   rune // in ASCII
	value  value
	dashed bool // where colours do not tell it from another line of the chart
	other  int  // cells from dot to dot where another run is shown; 0: it is not
}

// value is what a line shows of one half of a column.
type value func(c *history.Column, half int) opt.Float

// overTime draws lines on w×h cells.
func overTime(v *View, w, h int, scale chart.Scale, label func(float64) string, lines ...line) []string {
	p := newPlot(v, w, h, scale, label)
	for _, l := range lines {
		if l.other > 0 {
			p.Dotted(v.otherDots(w, l.value), l.other, v.Theme.Other, otherMark)
		}
	}
	for _, l := range lines {
		draw := p.Line
		if l.dashed && v.Theme.Shapes {
			draw = p.Dashed
		}
		draw(dots(v.History.Last(w), l.value), l.style, l.mark)
	}
	return p.Picture()
}

// curveSigns are what the names of two curves begin with where colours do not tell them
// apart: how they are drawn.
func curveSigns(t *theme.Palette) (first, second string) {
	switch {
	case t.ASCII:
		return "o ", "+ "
	case t.Shapes:
		return "─ ", "╌ "
	}
	return "", ""
}

// gutter is the least width of an axis with its labels, so that panels of the same width show
// the same span of time. Panels narrower than gutterFrom have no cell to spare.
const (
	gutter     = 5
	gutterFrom = 30
)

// newPlot makes a chart over time, marked at the moments when the load was changed.
func newPlot(v *View, w, h int, scale chart.Scale, label func(float64) string) *chart.Plot {
	if w >= gutterFrom {
		short := label
		label = func(v float64) string { return text.Right(short(v), gutter-1) }
	}
	p := chart.New(w, h, scale, label, v.Theme.Border)
	p.ASCII = v.Theme.ASCII
	var marked []bool
	for _, c := range v.History.Last(p.Cols) {
		marked = append(marked, c.Marked)
	}
	p.Marks(marked, v.Theme.Mark)
	if back, on := v.cursorBack(); on {
		p.Cursor(back, v.Theme.Accent)
	}
	return p
}

// dots are the values for a line, NaN where they are unknown.
func dots(columns []*history.Column, of value) (ys []float64) {
	for _, c := range columns {
		for half := range c.Dots {
			ys = append(ys, orNaN(of(c, half)))
		}
	}
	return ys
}

// shares is the scale of shares of a whole.
var shares = chart.Scale{Min: 0, Max: 1}

func percentLabel(v float64) string { return units.Whole(100*v) + "%" }

// spark is a line of blocks after a short name, on w cells. Values above top raise the
// scale.
func spark(v *View, name string, nameWidth, w int, top float64, of value, st lipgloss.Style) string {
	n := max(0, w-nameWidth)
	var ys []float64
	for _, c := range v.History.Last(n) {
		ys = append(ys, orNaN(of(c, 0)))
	}
	return v.Theme.Dim.Render(text.Pad(name, min(nameWidth, w))) + chart.Spark(n, ys, max(top, largest(ys)), st)
}

func orNaN(f opt.Float) float64 { return f.Or(math.NaN()) }

func blanks(n int) []float64 {
	ys := make([]float64, max(0, n))
	for i := range ys {
		ys[i] = math.NaN()
	}
	return ys
}

// bridge joins neighbours that are no more than most dots apart by a straight line.
func bridge(ys []float64, most int) {
	last := -1
	for i, y := range ys {
		if math.IsNaN(y) {
			continue
		}
		if last >= 0 && i-last > 1 && i-last <= most {
			for k := last + 1; k < i; k++ {
				ys[k] = ys[last] + (y-ys[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
	}
}

func largest(ys []float64) float64 {
	most := 0.0
	for _, y := range ys {
		if y > most { // NaN compares false
			most = y
		}
	}
	return most
}
