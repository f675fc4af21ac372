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

// toASCII returns the nearest character below 0x80.
func toASCII(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r == 'µ' || r == 'μ': // micro sign, Greek mu
		return 'u'
	case r == '—' || r == '–' || r == '−':
		return '-'
	}
	return unprintable
}

// cellRunes returns text as one rune a cell, without styles.
func cellRunes(text string, ascii bool) []rune {
	if strings.ContainsRune(text, ansi.ESC) {
		text = ansi.Strip(text)
	}
	cells := []rune(text)
	for i, r := range cells {
		if ascii {
			cells[i] = toASCII(r)
		} else {
			cells[i] = oneCell(r)
		}
	}
	return cells
}
