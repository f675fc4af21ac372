package chart

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Dots of a braille cell.
const (
	dotsWide = 2
	dotsHigh = 4
)

// braille are the runes of a single dot, by its column and row in the cell.
var braille = func() (dots [dotsWide][dotsHigh]rune) {
	for x, places := range [dotsWide][dotsHigh]int{{0, 1, 2, 6}, {3, 4, 5, 7}} { // as the library numbers them
		for y, place := range places {
			var one runes.PatternDots
			one[place] = true
			dots[x][y] = runes.BraillePatternFromPatternDots(one)
		}
	}
	return dots
}()

// Line draws values as a line, one value a dot column (two per cell column), newest last. NaN
// cuts it and a lone value is a dot. Where lines meet in a cell all their dots stay and the
// later one gives the style. Values beyond the scale are drawn on its edge; a triangle in the
// top row shows that there are some above it. The mark draws the line in ASCII.
func (p *Plot) Line(values []float64, style lipgloss.Style, mark rune) {
	pen := glyph{r: mark, ink: inkOf(style), line: true}
	shown, x := newest(values, p.Cols*dotsWide)
	before := -1 // dot row of the value before, −1 = none
	for _, v := range shown {
		y := -1
		if slot := p.slot(v, p.h*p.dots()); slot >= 0 {
			y = p.h*p.dots() - 1 - slot
			p.join(x, before, y, pen)
			if p.above(v) {
				p.set(x/dotsWide, 0, overflow, pen.ink)
			}
		}
		before = y
		x++
	}
}

// Dashed is Line with every other cell left out, in braille, so that two lines differ without
// colour. In ASCII their marks do.
func (p *Plot) Dashed(values []float64, style lipgloss.Style, mark rune) {
	p.dashed = !p.ASCII
	p.Line(values, style, mark)
	p.dashed = false
}

// Dotted draws values as dots that nothing joins, one in each so many cells, newest last: the
// shape tells it from a Line without colour. A cell shows the newer of its two values, or the
// older where that is NaN. What lies beyond the scale is left out. The mark draws it in ASCII.
func (p *Plot) Dotted(values []float64, cells int, style lipgloss.Style, mark rune) {
	pen := glyph{r: mark, ink: inkOf(style), line: true}
	shown, free := newest(values, p.Cols*dotsWide)
	for x := p.Cols*dotsWide - 1; x > free; x -= dotsWide * cells {
		v := shown[x-free]
		if math.IsNaN(v) {
			v = shown[x-free-1]
		}
		if slot := p.slot(v, p.h*p.dots()); slot >= 0 && !p.above(v) {
			y := p.h*p.dots() - 1 - slot
			p.column(x, y, y, pen)
		}
	}
}

// dots is how many a line has in the height of a cell.
func (p *Plot) dots() int {
	if p.ASCII {
		return 1
	}
	return dotsHigh
}

// join draws a dot at (x, y) and connects it with the one before, at (x−1, before): half
// of the way lies in either column.
func (p *Plot) join(x, before, y int, pen glyph) {
	switch way := y - before; {
	case before < 0 || way == 0:
		p.column(x, y, y, pen)
	case way > 0:
		half := before + way/2
		p.column(x-1, before, half, pen)
		p.column(x, half+1, y, pen)
	default:
		half := before + way/2
		p.column(x-1, half, before, pen)
		p.column(x, y, half-1, pen)
	}
}

// column sets the dots from row top down to row bottom.
func (p *Plot) column(x, top, bottom int, pen glyph) {
	if p.dashed && x/dotsWide%2 == 1 {
		return
	}
	for y := top; y <= bottom; y++ {
		at := p.at(p.left+x/dotsWide, y/p.dots())
		if at.r == overflow {
			continue
		}
		if !p.ASCII {
			pen.r = braille[x%dotsWide][y%dotsHigh]
			if at.line {
				pen.r = runes.CombineBraillePatterns(at.r, pen.r)
			}
		}
		*at = pen
	}
}

// Rule draws a horizontal line, such as an SLO, where nothing else is: one dot a cell, so that
// it differs from other lines without colour, at the exact height. Beyond the scale there is
// none.
func (p *Plot) Rule(y float64, style lipgloss.Style) {
	if p.h == 0 || !(y >= p.scale.Min && y <= p.scale.Max) {
		return
	}
	dot := dotsHigh*p.h - 1 - p.slot(y, dotsHigh*p.h)
	pen := glyph{r: '-', ink: inkOf(style)}
	if !p.ASCII {
		pen.r = braille[0][dot%dotsHigh]
	}
	for col := range p.Cols {
		if at := p.at(p.left+col, dot/dotsHigh); at.r == 0 {
			*at = pen
		}
	}
}

// Point is a value that stands for itself: a sign, and its spread as a vertical line
// through it.
type Point struct {
	At        int // dot column, 0 = leftmost of the plot
	Y         float64
	Low, High float64 // of the spread; NaN = none
	Sign      rune    // one cell wide
	Style     lipgloss.Style
}

// Spread draws the vertical line of a point.
func (p *Plot) Spread(q Point) {
	top, bottom := p.row(q.High), p.row(q.Low)
	for row := top; row >= 0 && row <= bottom; row++ {
		p.set(q.At/dotsWide, row, '│', inkOf(q.Style))
	}
}

// Point draws the sign of a point.
func (p *Plot) Point(q Point) { p.set(q.At/dotsWide, p.row(q.Y), q.Sign, inkOf(q.Style)) }

// row is the row of a value from the top, −1 if it has none.
func (p *Plot) row(v float64) int {
	if math.IsNaN(v) || p.h == 0 {
		return -1
	}
	return p.h - 1 - p.slot(v, p.h)
}
