package chart

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
	return '?'
}
