// Package text lays out text in cells: harmless, cut, padded and wrapped text, figures
// that are whole or absent, boxes and tables.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/plain"
	"sonde/ui/chart"
)

// Clean makes text from outside (model names, error messages, labels) safe to print: one
// harmless line of characters that have a glyph of their own.
func Clean(s string) string { return plain.Line(strings.Map(onScreen, s), len(s)) }

// onScreen drops what has no glyph of its own: format characters (which include the
// direction overrides), private use, unassigned, and marks that would pile up. Pictograms
// are replaced: terminals and multiplexers disagree about their width, and one cell too
// many shifts a whole row.
func onScreen(r rune) rune {
	switch {
	case r == utf8.RuneError, !unicode.IsSpace(r) && !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S):
		return -1
	case r >= 0x1F000 && r < 0x20000:
		return '?'
	}
	return r
}

// CleanTo is clean, shortened to w cells at the end of a word.
func CleanTo(s string, w int) string { return ClipWords(Clean(s), w) }

// ClipWords shortens plain text to w cells after a whole word, so that no number
// loses its end. A single word too long, such as an address, is cut.
func ClipWords(s string, w int) string {
	if ansi.StringWidth(s) <= w {
		return s
	}
	lines := Wrap(s, w-ansi.StringWidth(" …"))
	if len(lines) == 0 {
		return Clip(s, w)
	}
	return Clip(lines[0]+" …", w)
}

// Clip cuts plain or styled text to w cells.
func Clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if ansi.StringWidth(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// Pad clips or fills plain or styled text to exactly w cells.
func Pad(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = Clip(s, w)
	return s + strings.Repeat(" ", w-ansi.StringWidth(s))
}

// Wrap breaks clean text into lines of at most w cells, between words where they
// fit. It does not break at hyphens: "--metrics" stays one word.
func Wrap(s string, w int) []string {
	if w <= 0 || s == "" {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range words(s) {
		if line != "" && ansi.StringWidth(line)+1+ansi.StringWidth(word) <= w {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		pieces := strings.Split(ansi.Hardwrap(word, w, false), "\n")
		lines = append(lines, pieces[:len(pieces)-1]...)
		line = pieces[len(pieces)-1]
	}
	return append(lines, line)
}

// words cuts text at blanks, but not within a number such as 1 210.
func words(s string) []string {
	fields := strings.Fields(s)
	var out []string
	for i, f := range fields {
		if i > 0 && endsInDigit(fields[i-1]) && isThousand(f) {
			out[len(out)-1] += " " + f
			continue
		}
		out = append(out, f)
	}
	return out
}

func endsInDigit(s string) bool { return isDigit(s[len(s)-1]) }

// isThousand reports whether a word is three digits, with a unit or a comma behind
// them at most.
func isThousand(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// CleanOr is Clean, or something else where that leaves nothing.
func CleanOr(s, otherwise string) string {
	if s = Clean(s); s == "" {
		return otherwise
	}
	return s
}

// Right aligns a number in w cells, so that changing digits move nothing else.
func Right(s string, w int) string {
	return strings.Repeat(" ", max(0, w-ansi.StringWidth(s))) + s
}

// Styled gives each of the lines a style.
func Styled(lines []string, st lipgloss.Style) []string {
	for i := range lines {
		lines[i] = st.Render(lines[i])
	}
	return lines
}

// Indented wraps text behind a lead; further lines are indented as far.
func Indented(lead, text string, w int, st lipgloss.Style) []string {
	n := ansi.StringWidth(lead)
	lines := Wrap(text, w-n-1)
	for i, l := range lines {
		lines[i] = lead + st.Render(l)
		lead = strings.Repeat(" ", n)
	}
	return lines
}

// AfterSign puts a sign before the first of the lines. The first loud cells of the text
// are in the sign's style, the rest is in another.
func AfterSign(sign string, lines []string, loud int, st, rest lipgloss.Style) []string {
	out := make([]string, len(lines))
	lead := st.Render(sign)
	for i, line := range lines {
		first := ansi.Truncate(line, max(0, loud), "")
		loud -= ansi.StringWidth(line) + 1 // and the blank at which it was broken
		out[i] = lead + st.Render(first) + rest.Render(line[len(first):])
		lead = strings.Repeat(" ", ansi.StringWidth(sign))
	}
	return out
}

// Beside puts two blocks next to each other.
func Beside(left []string, lw int, right []string, rw, h int) []string {
	l, r := chart.Fit(left, lw, h), chart.Fit(right, rw, h)
	for i := range l {
		l[i] += r[i]
	}
	return l
}
