// Package chart draws time series as text. It is the one adapter in front of
// the drawing library: whatever it is given (NaN, infinities, outliers, a size of
// 1×1) it draws something sensible and returns exactly h lines of w cells.
//
// Time runs to the right and the newest column is the last. One cell column is
// one slice of time; callers decide its length. Braille charts have two dot
// columns in a cell column. Data longer than the plot is cut on the left, shorter
// data is right-aligned.
//
// Every picture is first laid out on a grid of cells (grid.go) and written from
// there with one style run for neighbours of equal style, so that a chart costs
// few bytes on the wire. Where only ASCII is wanted the whole screen goes through
// ToASCII; of the charts only Lines has to draw differently then.
package chart

import "charm.land/lipgloss/v2"

// Frame is what surrounds a chart over time.
type Frame struct {
	Scale      Scale
	Label      func(v float64) string // text of a value on the y-axis; nil = no axis
	LabelStyle lipgloss.Style
	Marks      []int // cell columns, 0 = leftmost of the plot, where the load changed
	MarkStyle  lipgloss.Style
}

// plot is a grid with a y-axis at its left and room for data at its right.
type plot struct {
	*grid
	ruler
	left, cols int // the first column for data, and how many there are
}

func newPlot(w, h int, f *Frame) *plot {
	g := newGrid(w, h)
	a := newAxis(g.w, g.h, f.Scale, f.Label)
	a.draw(g, inkOf(f.LabelStyle))
	return &plot{grid: g, ruler: f.Scale.ruler(), left: a.width, cols: g.w - a.width}
}

// set puts a rune at a data column; columns outside of the plot are ignored.
func (p *plot) set(col, row int, r rune, ink ink) {
	if col >= 0 && col < p.cols {
		p.put(p.left+col, row, r, ink)
	}
}

// drawMarks draws a dotted vertical line at each of the marks.
func (p *plot) drawMarks(f *Frame) {
	ink := inkOf(f.MarkStyle)
	for _, col := range f.Marks {
		for row := range p.h {
			p.set(col, row, '┊', ink)
		}
	}
}

// overflow is the sign in the top row for a value beyond the scale.
const overflow = '▲'

// newest returns the last n of values, and how many places are free before them.
func newest[T any](values []T, n int) (shown []T, free int) {
	if len(values) > n {
		return values[len(values)-n:], 0
	}
	return values, n - len(values)
}
