package ui

import "unicode"

// asciiOf is the drawing without Unicode: one ASCII character for each glyph of
// the screen, so that nothing changes its place.
var asciiOf = map[rune]rune{
	'─': '-', '│': '|', '╭': '+', '╮': '+', '╰': '+', '╯': '+', '┤': '+', '┴': '+', '┊': ':', '┃': '#',
	'●': '*', '○': 'o', '◐': '%', '◌': '%', '⟳': '@', '◆': 'i', '▲': '!', '■': '#', '›': '>', '·': '-',
	'—': '-', '−': '-', '→': '>', '←': '<', '↑': '^', '↓': 'v', '⇧': 'S', '×': 'x', '≤': '<',
	'°': 'd', 'µ': 'u', '…': '~',
	'░': '.', '▒': ':', '▓': '+', '█': '#', '▌': '=',
	'▁': '_', '▂': ',', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '#',
}

// toASCII replaces a character; foreign letters become a question mark for each
// cell, as near as one character can be. Characters without a cell are dropped.
func toASCII(r rune) rune {
	switch a, ok := asciiOf[r]; {
	case r < unicode.MaxASCII:
		return r
	case ok:
		return a
	}
	return '?'
}
