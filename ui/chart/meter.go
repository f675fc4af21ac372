package chart

import (
	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Spark draws one value a cell, the newest at the right, as blocks of eight heights from
// 0 to top; a top that is not above 0 and finite stands for the largest value. NaN is
// blank, unlike 0; a value beyond top is a triangle.
func Spark(w int, ys []float64, top float64, style lipgloss.Style, ascii bool) string {
	g := newGrid(w, 1)
	shown, x := newest(ys, g.w)
	if !(top > 0) || !finite(top) {
		_, top = extent([][]float64{shown})
	}
	r := Scale{Max: top}.ruler()
	ink := g.ink(style)
	for i, v := range shown {
		if level := r.slot(v, len(heights)); level >= 0 {
			g.put(x+i, 0, sparkRune(level, r.above(v), ascii), ink)
		}
	}
	return g.lines()[0]
}

// heights are the levels of a spark line in ASCII; in Unicode they are lower blocks.
const heights = "_.:-=+*#"

func sparkRune(level int, above, ascii bool) rune {
	switch {
	case above:
		return overflow(ascii)
	case ascii:
		return rune(heights[level])
	}
	return runes.LowerBlockOne + rune(level)
}
