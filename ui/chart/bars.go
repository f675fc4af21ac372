package chart

import (
	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Bar draws a share of 0 to 1 from left to right over w cells, in steps of half a
// cell. NaN is blank, unlike 0; whatever is beyond 1 fills the bar.
func Bar(w int, share float64, style lipgloss.Style) string {
	g := newGrid(w, 1)
	if !(share > 0) || !finite(share) {
		return g.Picture()[0]
	}
	ink := inkOf(style)
	halves := int(min(share, 1)*float64(2*g.w) + 0.5)
	for x := range halves / 2 {
		g.put(x, 0, '█', ink)
	}
	if halves%2 == 1 {
		g.put(halves/2, 0, '▌', ink)
	}
	return g.Picture()[0]
}

// Spark draws one value a cell, the newest at the right, as blocks of eight heights from
// 0 to top; a top that is not above 0 and finite stands for the largest value. NaN is
// blank, unlike 0; a value beyond top is a triangle.
func Spark(w int, ys []float64, top float64, style lipgloss.Style) string {
	g := newGrid(w, 1)
	shown, x := newest(ys, g.w)
	if !(top > 0) || !finite(top) {
		_, top = extent([][]float64{shown})
	}
	r := Scale{Max: top}.ruler()
	ink := inkOf(style)
	for i, v := range shown {
		if level := r.slot(v, heights); level >= 0 {
			g.put(x+i, 0, block(level, r.above(v)), ink)
		}
	}
	return g.Picture()[0]
}

// heights are how many lower blocks there are.
const heights = 8

func block(level int, above bool) rune {
	if above {
		return overflow
	}
	return runes.LowerBlockOne + rune(level)
}
