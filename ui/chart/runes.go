package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// unprintable stands for a character that would not take exactly one cell.
const unprintable = '?'

// oneCell returns r if a terminal draws it in exactly one cell, whatever stands next
// to it, and a substitute otherwise (control codes, wide and combining characters).
func oneCell(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r >= 0x2500 && r < 0x25f8, r >= 0x2800 && r < 0x2900: // boxes, blocks, shapes; braille
		return r
	}
	s := string(r)
	if r < ' ' || ansi.StringWidth("x"+s+s+"x") != 4 {
		return unprintable
	}
	return r
}

// asciiOf is the drawing without Unicode: one ASCII character for each glyph of
// the screen, so that nothing changes its place.
var asciiOf = map[rune]rune{
	'─': '-', '│': '|', '╭': '+', '╮': '+', '╰': '+', '╯': '+', '┤': '+', '┴': '+', '┊': ':', '┃': '#',
	'●': '*', '○': 'o', '◐': '%', '◌': '%', '⟳': '@', '◆': 'i', '▲': '!', '■': '#', '›': '>', '·': '-',
	'—': '-', '–': '-', '−': '-', '→': '>', '←': '<', '↑': '^', '↓': 'v', '⇧': 'S', '×': 'x', '≤': '<',
	'°': 'd', 'µ': 'u', 'μ': 'u', '…': '~',
	'░': '.', '▒': ':', '▓': '+', '█': '#', '▌': '=',
	'▁': '_', '▂': ',', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '%',
}

// ToASCII replaces a character; one that has no likeness becomes a question mark.
func ToASCII(r rune) rune {
	if r < 0x7f {
		return r
	}
	if a, ok := asciiOf[r]; ok {
		return a
	}
	return unprintable
}

// cellRunes returns text as one rune a cell, without styles.
func cellRunes(text string) []rune {
	if strings.ContainsRune(text, ansi.ESC) {
		text = ansi.Strip(text)
	}
	cells := []rune(text)
	for i, r := range cells {
		cells[i] = oneCell(r)
	}
	return cells
}
