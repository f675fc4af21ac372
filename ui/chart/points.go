package chart

import (
	"math"

	"charm.land/lipgloss/v2"
)

// Point is a value that stands for itself: a sign, and its spread as a vertical line
// through it.
type Point struct {
	At        int // dot column, 0 = leftmost of the plot
	Y         float64
	Low, High float64 // of the spread; NaN = none
	Sign      rune    // one cell wide; in ASCII it has to be ASCII
	Style     lipgloss.Style
}

// drawSpreads draws the lines of all points, below everything else.
func (p *plot) drawSpreads(points []Point) {
	bar := '│'
	if p.ascii {
		bar = '|'
	}
	for _, q := range points {
		top, bottom := p.row(q.High), p.row(q.Low)
		if top < 0 || bottom < 0 {
			continue
		}
		for row := top; row <= bottom; row++ {
			p.set(q.At/dotsWide, row, bar, p.ink(q.Style))
		}
	}
}

// drawPoints puts the signs on top.
func (p *plot) drawPoints(points []Point) {
	for _, q := range points {
		if row := p.row(q.Y); row >= 0 {
			p.set(q.At/dotsWide, row, q.Sign, p.ink(q.Style))
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
