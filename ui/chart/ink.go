package chart

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// ink is a style that a grid knows, by number. 0 is no style at all.
type ink int32

// palette holds the styles of one picture as the escape sequences that begin them.
// Styles that look the same are one ink.
type palette struct {
	open  []string
	solid []bool // the style shows on a blank too (background, underline …)
	known map[string]ink
}

func newPalette() palette {
	return palette{open: []string{""}, solid: []bool{false}, known: map[string]ink{"": 0}}
}

// ink returns the number of style, adding it if it is new.
func (p *palette) ink(style lipgloss.Style) ink {
	open, solid := sequence(style)
	number, ok := p.known[open]
	if !ok {
		number = ink(len(p.open))
		p.known[open] = number
		p.open = append(p.open, open)
		p.solid = append(p.solid, solid)
	}
	return number
}

// sequence returns the escape sequence that switches the text attributes of s on,
// and whether they show on a blank. Layout (width, padding, borders) has no meaning
// for a cell, and nothing here blinks.
func sequence(s lipgloss.Style) (open string, solid bool) {
	var a ansi.Style
	if s.GetBold() {
		a = a.Bold()
	}
	if s.GetFaint() {
		a = a.Faint()
	}
	if s.GetItalic() {
		a = a.Italic(true)
	}
	if s.GetUnderline() {
		a, solid = a.UnderlineStyle(s.GetUnderlineStyle()), true
	}
	if s.GetReverse() {
		a, solid = a.Reverse(true), true
	}
	if s.GetStrikethrough() {
		a, solid = a.Strikethrough(true), true
	}
	if c := s.GetForeground(); isColor(c) {
		a = a.ForegroundColor(c)
	}
	if c := s.GetBackground(); isColor(c) {
		a, solid = a.BackgroundColor(c), true
	}
	if len(a) == 0 {
		return "", false
	}
	return a.String(), solid
}

func isColor(c color.Color) bool {
	_, none := c.(lipgloss.NoColor)
	return c != nil && !none
}
