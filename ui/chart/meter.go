package chart

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Bar draws a share from 0 to 1 as a horizontal bar of w cells, in eighths of a cell.
// Anything above 0 shows at least one of them. An unknown share (NaN) is blank, which
// is not an empty bar.
func Bar(w int, fraction float64, full, empty lipgloss.Style, ascii bool) string {
	g := newGrid(w, 1)
	if math.IsNaN(fraction) {
		return g.lines()[0]
	}
	eighths := int(math.Round(min(max(fraction, 0), 1) * float64(g.w*8)))
	if fraction > 0 {
		eighths = max(eighths, 1)
	}
	fullInk, emptyInk := g.ink(full), g.ink(empty)
	for x := range g.w {
		if r := barRune(eighths-8*x, ascii); r != 0 {
			g.put(x, 0, r, fullInk)
		} else {
			g.put(x, 0, trackRune(ascii), emptyInk)
		}
	}
	return g.lines()[0]
}

// barRune returns a cell with that many eighths (or more) filled from the left, 0 for
// an empty one. In ASCII a cell counts as filled from its middle.
func barRune(eighths int, ascii bool) rune {
	switch {
	case ascii && eighths >= 4:
		return '#'
	case ascii || eighths <= 0:
		return 0
	}
	return runes.LeftBlockElementFromFloat64(float64(eighths) / 8)
}

func trackRune(ascii bool) rune {
	if ascii {
		return '.'
	}
	return '░'
}

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
