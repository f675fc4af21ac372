package panel

import (
	"math"

	"charm.land/lipgloss/v2"

	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
)

// dotsPerColumn is how many dots wide a cell of a line chart is.
const dotsPerColumn = 2

// bridgeDots is the longest pause, in dots, that a line crosses: 4 s at 1 s a column.
// Requests end a few times a second at best, so single dots would not read as a line; a
// longer pause stays a gap.
const bridgeDots = 8

// line is one line of a chart over time.
type line struct {
	style lipgloss.Style
	mark  rune // in ASCII
	value func(*history.Column) opt.Float
}

// overTime draws lines on w×h cells, one value a column.
func overTime(v *View, w, h int, scale chart.Scale, label func(float64) string, lines ...line) []string {
	plot := chart.PlotWidth(w, label, scale, h)
	shown := v.History.Last(plot)
	series := make([]chart.Series, len(lines))
	for i, l := range lines {
		series[i] = chart.Series{Style: l.style, Mark: l.mark, Y: columnLine(shown, plot, l.value)}
	}
	return chart.Lines(w, h, lineOptions(v, scale, label, shown, plot), series...)
}

func lineOptions(v *View, scale chart.Scale, label func(float64) string, shown []*history.Column, plot int) chart.LineOptions {
	return chart.LineOptions{Frame: chartFrame(v, scale, label, shown, plot), ASCII: v.Theme.ASCII}
}

func chartFrame(v *View, scale chart.Scale, label func(float64) string, shown []*history.Column, plot int) chart.Frame {
	t := v.Theme
	return chart.Frame{Scale: scale, Label: label, LabelStyle: t.Border, Marks: marks(shown, plot), MarkStyle: t.Mark}
}

// shares is the scale of what is a part of a whole.
var shares = chart.Scale{Min: 0, Max: 1}

func percentLabel(v float64) string { return units.Whole(100*v) + "%" }

// spark is a line of blocks behind a short name, on w cells; without a top the largest
// value is the full height.
func spark(v *View, name string, nameWidth, w int, top float64, value func(*history.Column) opt.Float, st lipgloss.Style) string {
	n := max(0, w-nameWidth)
	ys := columnCells(v.History.Last(n), n, value)
	return v.Theme.Dim.Render(text.Pad(name, min(nameWidth, w))) + chart.Spark(n, ys, max(top, largest(ys)), st)
}

// latencyLines gives p50, p95 and p99 for a plot of w cells, one value a dot, newest
// last, NaN where no sample ended.
func latencyLines(shown []*history.Column, w int, dot func(*history.Dot) history.Triple) [3][]float64 {
	var lines [3][]float64
	for i := range lines {
		lines[i] = blanks(w * dotsPerColumn)
	}
	from := (w - len(shown)) * dotsPerColumn
	for at, c := range shown {
		for half := range c.Dots {
			for i, v := range dot(&c.Dots[half]) {
				lines[i][from+at*dotsPerColumn+half] = v
			}
		}
	}
	for i := range lines {
		bridge(lines[i], bridgeDots)
	}
	return lines
}

// columnLine gives one value per column, on both of its dots.
func columnLine(shown []*history.Column, w int, value func(*history.Column) opt.Float) []float64 {
	line := blanks(w * dotsPerColumn)
	from := (w - len(shown)) * dotsPerColumn
	for at, c := range shown {
		y := orNaN(value(c))
		line[from+at*dotsPerColumn], line[from+at*dotsPerColumn+1] = y, y
	}
	return line
}

// columnCells gives one value per column for a spark line of w cells.
func columnCells(shown []*history.Column, w int, value func(*history.Column) opt.Float) []float64 {
	line := blanks(w)
	for at, c := range shown {
		line[w-len(shown)+at] = orNaN(value(c))
	}
	return line
}

// marks gives the cells in which something was done to the load.
func marks(shown []*history.Column, w int) []int {
	var at []int
	for i, c := range shown {
		if c.Marked {
			at = append(at, w-len(shown)+i)
		}
	}
	return at
}

func orNaN(f opt.Float) float64 { return f.Or(math.NaN()) }

func blanks(n int) []float64 {
	ys := make([]float64, max(0, n))
	for i := range ys {
		ys[i] = math.NaN()
	}
	return ys
}

// bridge joins neighbours that are at most most dots apart by a straight line.
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
