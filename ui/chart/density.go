package chart

import (
	"math/bits"

	"charm.land/lipgloss/v2"
)

// DensityOptions says how Density draws.
type DensityOptions struct {
	Frame
	Shades []lipgloss.Style // few samples → many; the first must be readable on ░
}

// Row returns the row of a value on a chart of h rows, counted from the bottom; h if it
// lies beyond the top of the scale. Values below the scale lie in the bottom row.
func Row(h int, s Scale, v float64) int {
	r := s.ruler()
	if r.above(v) {
		return h
	}
	return max(0, r.slot(v, h))
}

// Density draws the distribution of samples over time on w×h cells: a cell column for
// each of columns (the newest last), the brighter and denser the more samples are at
// that height. They are counted by Row, with the same h and Scale; a column of another height is
// left blank. Samples beyond the scale show as a triangle in the
// top row.
func Density(w, h int, o DensityOptions, columns [][]uint32) []string {
	p := newPlot(w, h, &o.Frame)
	p.drawMarks(&o.Frame)
	shown, col := newest(columns, p.cols)
	shade := newShading(o.Shades, shown)
	for _, bins := range shown {
		if len(bins) == p.h+1 {
			p.drawBins(col, bins, shade)
		}
		col++
	}
	return p.lines()
}

func (p *plot) drawBins(col int, bins []uint32, s shading) {
	for row := range p.h {
		if n := bins[p.h-1-row]; n > 0 {
			p.set(col, row, s.rune(n), s.ink(n))
		}
	}
	if bins[p.h] > 0 {
		p.set(col, 0, overflow, s.ink(s.most)) // even one must be noticed
	}
}

// shading turns a count into a character and a style.
type shading struct {
	most  uint32
	runes []rune
	inks  []ink
}

func newShading(shades []lipgloss.Style, columns [][]uint32) shading {
	s := shading{runes: []rune("░▒▓█")}
	for _, style := range shades {
		s.inks = append(s.inks, inkOf(style))
	}
	for _, bins := range columns {
		for _, n := range bins {
			s.most = max(s.most, n)
		}
	}
	return s
}

func (s shading) rune(n uint32) rune { return s.runes[s.level(n, len(s.runes))] }

func (s shading) ink(n uint32) ink {
	if len(s.inks) == 0 {
		return ""
	}
	return s.inks[s.level(n, len(s.inks))]
}

// level grades a count above 0 into 0 … levels−1, by the logarithm: one stalled token
// must be visible beside thousands of quick ones. Both it and the largest count enter
// as powers of two, so that shades of old columns rarely change when new ones come.
func (s shading) level(n uint32, levels int) int {
	full := bits.Len32(s.most)
	return (levels*bits.Len32(n)+full-1)/full - 1
}
