package chart

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// ink is the escape sequence that begins a style; "" is no style at all.
type ink string

// inkOf returns what lipgloss writes before a character of the style.
func inkOf(style lipgloss.Style) ink {
	open, _, _ := strings.Cut(style.Render("x"), "x")
	return ink(open)
}

// glyph is one cell of a picture. Rune 0 is blank.
type glyph struct {
	r    rune
	ink  ink
	line bool // part of a line, whose dots add up
}

// grid is a picture of w×h cells, (0, 0) at the top left.
type grid struct {
	w, h  int
	cells []glyph // row by row
}

// newGrid returns a blank grid; negative sizes count as 0.
func newGrid(w, h int) *grid {
	w, h = max(w, 0), max(h, 0)
	return &grid{w: w, h: h, cells: make([]glyph, w*h)}
}

// put sets one cell; outside of the grid it does nothing. The rune is one cell
// wide.
func (g *grid) put(x, y int, r rune, ink ink) {
	if x >= 0 && x < g.w && y >= 0 && y < g.h {
		*g.at(x, y) = glyph{r: r, ink: ink}
	}
}

func (g *grid) at(x, y int) *glyph { return &g.cells[y*g.w+x] }

// Picture returns what was drawn, each row exactly w cells wide.
func (g *grid) Picture() []string {
	lines := make([]string, g.h)
	var buf []byte
	for y := range lines {
		buf = g.appendRow(buf[:0], g.cells[y*g.w:(y+1)*g.w])
		lines[y] = string(buf)
	}
	return lines
}

// appendRow writes a row with one style run for neighbours of equal style. Blanks between
// them stay in the run, those before and after it are not styled.
func (g *grid) appendRow(b []byte, row []glyph) []byte {
	current, blanks := ink(""), 0
	for _, c := range row {
		if c.r == 0 || c.r == ' ' {
			blanks++
			continue
		}
		if c.ink != current {
			b = appendReset(b, current)
		}
		b = append(b, strings.Repeat(" ", blanks)...)
		if c.ink != current {
			b = append(b, c.ink...)
		}
		current, blanks = c.ink, 0
		b = utf8.AppendRune(b, c.r)
	}
	return append(appendReset(b, current), strings.Repeat(" ", blanks)...)
}

func appendReset(b []byte, current ink) []byte {
	if current == "" {
		return b
	}
	return append(b, ansi.ResetStyle...)
}

// Cell is one cell of a Raster. Rune 0 is blank.
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
				g.put(x+i, y, r, inkOf(shown[i].Style))
			}
		}
	}
	return g.Picture()
}

// Fit returns exactly h lines of exactly w cells: longer text is cut, shorter padded with
// blanks. It counts cells, not bytes, and keeps styles.
func Fit(lines []string, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	fitted := make([]string, h)
	for i := range fitted {
		if i < len(lines) {
			fitted[i] = ansi.Truncate(lines[i], w, "")
		}
		fitted[i] += strings.Repeat(" ", max(0, w-ansi.StringWidth(fitted[i])))
	}
	return fitted
}
