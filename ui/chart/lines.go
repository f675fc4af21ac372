package chart

import (
	"math"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Series is one line of a chart.
type Series struct {
	Style lipgloss.Style
	Mark  rune      // draws it in ASCII; 0 is '*'
	Y     []float64 // one value per dot column (two per cell column), newest last; NaN = no data there
}

// Rule is a horizontal line, such as an SLO. It is dotted, so that it differs from a
// series without colour, and omitted where it lies beyond the scale.
type Rule struct {
	Y     float64
	Style lipgloss.Style
}

// LineOptions says how Lines draws.
type LineOptions struct {
	Frame
	Rules  []Rule
	Points []Point
	ASCII  bool // no braille: a character for each series, one value a cell high
}

// Lines draws series as braille lines on w×h cells. Gaps cut a line and a lone value
// is a dot. Where lines meet in a cell all their dots stay and the later one gives the
// style. Values beyond the scale are drawn on its edge; a triangle in the top row shows
// that there are some above it.
func Lines(w, h int, o LineOptions, series ...Series) []string {
	p := newPlot(w, h, &o.Frame)
	for _, r := range o.Rules {
		p.drawRule(r, o.ASCII)
	}
	p.drawMarks(&o.Frame)
	p.drawSpreads(o.Points)
	t := newTrace(p.cols, p.h, o.ASCII)
	pens := make([]glyph, len(series))
	for i, s := range series {
		pens[i] = glyph{pen(s.Mark), inkOf(s.Style)}
		t.draw(&p.ruler, s.Y, owner(i+1))
	}
	p.drawTrace(t, pens)
	p.drawPoints(o.Points)
	return p.lines()
}

// pen returns the character that draws a series in ASCII.
func pen(mark rune) rune {
	if mark > ' ' && mark < 0x7f {
		return mark
	}
	return '*'
}

// drawTrace copies the cells that t has reached to the plot.
func (p *plot) drawTrace(t *trace, pens []glyph) {
	var braille [][]rune
	if t.dots != nil {
		braille = t.dots.BraillePatterns()
	}
	for i, owner := range t.owners {
		if owner == 0 {
			continue
		}
		pen := pens[owner-1]
		row, col := i/t.cols, i%t.cols
		if braille != nil {
			pen.r = braille[row][col]
		}
		p.set(col, row, pen.r, pen.ink)
	}
	for col, owner := range t.above {
		if owner != 0 {
			p.set(col, 0, overflow, pens[owner-1].ink)
		}
	}
}

// leftDots are the places of a cell's left dots, from the top, in runes.PatternDots.
var leftDots = [dotsHigh]int{0, 1, 2, 6}

// drawRule draws one dot a cell, at the exact height.
func (p *plot) drawRule(rule Rule, ascii bool) {
	if p.h == 0 || !(rule.Y >= p.scale.Min && rule.Y <= p.scale.Max) {
		return
	}
	dot := dotsHigh*p.h - 1 - p.slot(rule.Y, dotsHigh*p.h)
	r := '-'
	if !ascii {
		var dots runes.PatternDots
		dots[leftDots[dot%dotsHigh]] = true
		r = runes.BraillePatternFromPatternDots(dots)
	}
	ink := inkOf(rule.Style)
	for col := range p.cols {
		p.set(col, dot/dotsHigh, r, ink)
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

// drawSpreads draws the lines of all points, below everything else.
func (p *plot) drawSpreads(points []Point) {
	for _, q := range points {
		top, bottom := p.row(q.High), p.row(q.Low)
		if top < 0 || bottom < 0 {
			continue
		}
		for row := top; row <= bottom; row++ {
			p.set(q.At/dotsWide, row, '│', inkOf(q.Style))
		}
	}
}

// drawPoints puts the signs on top.
func (p *plot) drawPoints(points []Point) {
	for _, q := range points {
		if row := p.row(q.Y); row >= 0 {
			p.set(q.At/dotsWide, row, q.Sign, inkOf(q.Style))
		}
	}
}

// row is the row of a value, −1 if it has none.
func (p *plot) row(v float64) int {
	if math.IsNaN(v) || p.h == 0 {
		return -1
	}
	slot := p.slot(v, dotsHigh*p.h)
	if slot < 0 {
		return -1
	}
	return p.h - 1 - slot/dotsHigh
}
