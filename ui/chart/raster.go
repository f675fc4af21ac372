package chart

import "charm.land/lipgloss/v2"

// Cell is one cell of a Raster. Rune 0 is blank; a character that is not exactly one
// cell wide is replaced.
type Cell struct {
	Rune  rune
	Style lipgloss.Style
}

// Raster draws a row for each of rows, right-aligned, cut to the newest w cells and the
// first h rows, blank where there is none.
func Raster(w, h int, rows [][]Cell) []string {
	g := newGrid(w, h)
	for y, row := range rows[:min(len(rows), g.h)] {
		shown, x := newest(row, g.w)
		for i := range shown {
			if r := shown[i].Rune; r != 0 {
				g.put(x+i, y, oneCell(r), g.ink(shown[i].Style))
			}
		}
	}
	return g.lines()
}
