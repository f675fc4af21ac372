package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

// Profile decides what may be written to the terminal. The flag wins over the
// environment. NO_COLOR counts with any non-empty value, which the library reads
// as a boolean; CLICOLOR_FORCE forces colour; a dumb terminal gets no attributes
// at all.
func Profile(flag string, out io.Writer, env uv.Environ) colorprofile.Profile {
	switch {
	case flag == "never":
		return colorprofile.ASCII
	case flag == "always":
		return atLeast256(out, env)
	case env.Getenv("TERM") == "dumb":
		return colorprofile.NoTTY
	case env.Getenv("NO_COLOR") != "":
		return colorprofile.ASCII
	case env.Getenv("CLICOLOR_FORCE") != "" && env.Getenv("CLICOLOR_FORCE") != "0":
		return atLeast256(out, env)
	}
	return colorprofile.Detect(out, env)
}

// atLeast256 is for colour on demand: more than detected only where nothing was.
func atLeast256(out io.Writer, env uv.Environ) colorprofile.Profile {
	if p := colorprofile.Detect(out, env); p >= colorprofile.ANSI {
		return p
	}
	return colorprofile.ANSI256
}

// Unicode reports whether blocks and braille can be drawn: the locale says
// UTF-8, and the terminal is none of those whose fonts lack them. No locale
// at all, as in most containers, says nothing: terminals of today take UTF-8.
func Unicode(env uv.Environ) bool {
	if plainTerminal(env.Getenv("TERM")) {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if locale := env.Getenv(name); locale != "" {
			locale = strings.ToUpper(locale)
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return true
}

// plainTerminal reports whether a terminal is a text console or an old one.
func plainTerminal(kind string) bool {
	switch kind {
	case "dumb", "linux", "ansi", "cons25", "sun", "wsvt25", "vt52":
		return true
	}
	return strings.HasPrefix(kind, "vt1") || strings.HasPrefix(kind, "vt2") || strings.HasPrefix(kind, "linux-")
}

// asciiOf is the drawing without Unicode: one ASCII character for each glyph of
// the screen, so that nothing changes its place.
var asciiOf = map[rune]rune{
	'─': '-', '╌': '-', '│': '|', '╭': '+', '╮': '+', '╰': '+', '╯': '+', '┤': '+', '┴': '+', '┊': ':', '┃': '#',
	'●': '*', '○': 'o', '◐': '%', '◌': '%', '⟳': '@', '◆': 'i', '▲': '!', '■': '#', '›': '>', '·': '-',
	'—': '-', '–': '-', '−': '-', '→': '>', '←': '<', '↑': '^', '↓': 'v', '⇧': 'S', '×': 'x', '±': '~', '≤': '<',
	'°': 'd', 'µ': 'u', 'μ': 'u', '…': '~',
	'░': '.', '▒': ':', '▓': '+', '█': '#', '▌': '=',
	'▁': '_', '▂': ',', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '%',
}

// ToASCII returns the ASCII character for a glyph, or a question mark if it has none.
func ToASCII(r rune) rune {
	if r < 0x7f {
		return r
	}
	if a, ok := asciiOf[r]; ok {
		return a
	}
	return '?'
}
