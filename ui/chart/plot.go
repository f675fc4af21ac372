package chart

import (
	"charm.land/lipgloss/v2"
)

// plot is a grid with a y-axis at its left and room for data at its right.
type plot struct {
	*grid
	ruler
	left, cols int // the first column for data, and how many there are
	ascii      bool
}

func newPlot(w, h int, s Scale, label func(v float64) string, labelStyle lipgloss.Style, ascii bool) *plot {
	g := newGrid(w, h)
	a := newAxis(g.w, g.h, s, label, ascii)
	a.draw(g, g.ink(labelStyle), ascii)
	return &plot{grid: g, ruler: s.ruler(), left: a.width, cols: g.w - a.width, ascii: ascii}
}

// set puts a rune at a data column; columns outside of the plot are ignored.
func (p *plot) set(col, row int, r rune, ink ink) {
	if col >= 0 && col < p.cols {
		p.put(p.left+col, row, r, ink)
	}
}

// drawMarks draws a dotted vertical line at each of the data columns.
func (p *plot) drawMarks(columns []int, style lipgloss.Style) {
	r, ink := '┊', p.ink(style)
	if p.ascii {
		r = ':'
	}
	for _, col := range columns {
		for row := range p.h {
			p.set(col, row, r, ink)
		}
	}
}

// overflow is the sign in the top row for a value beyond the scale.
func overflow(ascii bool) rune {
	if ascii {
		return '^'
	}
	return '▲'
}

// newest returns the last n of values, and how many places are free before them.
func newest[T any](values []T, n int) (shown []T, free int) {
	if len(values) > n {
		return values[len(values)-n:], 0
	}
	return values, n - len(values)
}
