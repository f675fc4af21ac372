// Package chart draws time series as text. It is the one adapter in front of the drawing
// library: whatever it is given (NaN, infinities, outliers, a size of 1×1) it draws something
// sensible and returns exactly h lines of w cells.
//
// Time runs to the right and the newest column is the last. One cell column is one slice of
// time; callers decide its length. Braille charts have two dot columns in a cell column. Data
// longer than the plot is cut on the left, shorter data is right-aligned.
//
// Every picture is first laid out on a grid of cells (grid.go) and written from there with one
// style run for neighbours of equal style, so that a chart costs few bytes on the wire. Where
// only ASCII is wanted the whole screen goes through theme.ToASCII; of the charts only lines are
// drawn differently then.
package chart

import (
	"math/bits"
	"slices"

	"charm.land/lipgloss/v2"
)

// Plot is a chart that is being drawn: a y-axis at the left and room for data at its right.
// Each method draws over what is there already.
type Plot struct {
	Cols  int  // cell columns for data
	ASCII bool // lines are drawn with a character for each, one value a cell high

	*grid
	ruler
	left   int  // the first column for data
	dashed bool // the line at hand is
}

// New begins a chart of w×h cells. The axis takes the width of its longest label and one cell
// more; where that is more than half of w, or without label, there is no axis.
func New(w, h int, s Scale, label func(v float64) string, style lipgloss.Style) *Plot {
	p := &Plot{grid: newGrid(w, h), ruler: s.ruler()}
	a := newAxis(p.w, p.h, s, label)
	a.draw(p.grid, inkOf(style))
	p.left, p.Cols = a.width, p.w-a.width
	return p
}

// set puts a rune at a data column; columns outside of the plot are ignored.
func (p *Plot) set(col, row int, r rune, ink ink) {
	if col >= 0 && col < p.Cols {
		p.put(p.left+col, row, r, ink)
	}
}

// Marks draws a dotted vertical line at the marked columns, newest last.
func (p *Plot) Marks(marked []bool, style lipgloss.Style) {
	ink := inkOf(style)
	shown, col := newest(marked, p.Cols)
	for i, yes := range shown {
		for row := 0; yes && row < p.h; row++ {
			p.set(col+i, row, '┊', ink)
		}
	}
}

// Cursor draws a vertical line that many columns before the newest.
func (p *Plot) Cursor(back int, style lipgloss.Style) {
	for row := range p.h {
		p.set(p.Cols-1-back, row, '│', inkOf(style))
	}
}

// overflow is the sign in the top row for a value beyond the scale.
const overflow = '▲'

// Row returns the row of a value, counted from the bottom; p.h if it lies beyond the top of
// the scale. Values below the scale lie in the bottom row.
func (p *Plot) Row(v float64) int {
	if p.above(v) {
		return p.h
	}
	return max(0, p.slot(v, p.h))
}

// Density draws the distribution of samples over time: a cell column for each of columns, the
// denser the more samples are at that height. A column counts them by Row; samples beyond the
// scale show as a triangle in the top row. Each row has a style, the lowest first; the last
// style is of what is beyond the scale.
func (p *Plot) Density(columns [][]uint32, rows []lipgloss.Style) {
	shown, col := newest(columns, p.Cols)
	most := uint32(0)
	for _, bins := range shown {
		most = max(most, slices.Max(bins))
	}
	inks := make([]ink, len(rows))
	for i := range rows {
		inks[i] = inkOf(rows[i])
	}
	for i, bins := range shown {
		for row := range p.h {
			if n := bins[p.h-1-row]; n > 0 {
				p.set(col+i, row, densities[grade(n, most, len(densities))], inks[p.h-1-row])
			}
		}
		if bins[p.h] > 0 {
			p.set(col+i, 0, overflow, inks[p.h]) // even one must be noticed
		}
	}
}

var densities = [...]rune{'░', '▒', '▓', '█'}

// grade sorts a count above 0 into 0 … levels−1, by the logarithm: one stalled token must be
// visible beside thousands of quick ones. Both it and the largest count enter as powers of
// two, so that shades of old columns rarely change when new ones come.
func grade(n, most uint32, levels int) int {
	full := bits.Len32(most)
	return (levels*bits.Len32(n)+full-1)/full - 1
}

// newest returns the last n of values, and how many places are free before them.
func newest[T any](values []T, n int) (shown []T, free int) {
	if len(values) > n {
		return values[len(values)-n:], 0
	}
	return values, n - len(values)
}
