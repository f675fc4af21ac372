package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes text from outside (model names, error messages, labels) safe to
// print: no control code, escape, direction override or invisible character
// reaches the terminal, and white space becomes single blanks.
func clean(s string) string {
	var b strings.Builder
	blank := true // swallows leading blanks
	for _, r := range s {
		if unicode.IsSpace(r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		if !printable(r) {
			continue
		}
		b.WriteRune(narrow(r))
		blank = false
	}
	return strings.TrimRight(b.String(), " ")
}

// printable refuses C0, C1 and DEL, broken UTF-8, and everything that has no
// glyph of its own: format characters (which include the bidi overrides),
// surrogates, private use, unassigned, and marks that would pile up.
func printable(r rune) bool {
	if r == utf8.RuneError {
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// narrow replaces pictograms: terminals and multiplexers disagree about their
// width, and one cell too many shifts a whole row.
func narrow(r rune) rune {
	if r >= 0x1F000 && r < 0x20000 {
		return '?'
	}
	return r
}

// cleanTo is clean, shortened to w cells at the end of a word.
func cleanTo(s string, w int) string { return clipWords(clean(s), w) }

// clipWords shortens plain text to w cells after a whole word, so that no number
// loses its end. A single word too long, such as an address, is cut.
func clipWords(s string, w int) string {
	if ansi.StringWidth(s) <= w {
		return s
	}
	lines := wrap(s, w-ansi.StringWidth(" …"))
	if len(lines) == 0 {
		return clip(s, w)
	}
	return clip(lines[0]+" …", w)
}

// clip cuts plain or styled text to w cells.
func clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if ansi.StringWidth(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// pad clips or fills plain or styled text to exactly w cells.
func pad(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = clip(s, w)
	return s + strings.Repeat(" ", w-ansi.StringWidth(s))
}

// wrap breaks clean text into lines of at most w cells, between words where they
// fit. It does not break at hyphens: "--metrics" stays one word.
func wrap(s string, w int) []string {
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

// isThousand tells whether a word is three digits, with a unit or a comma behind
// them at most.
func isThousand(s string) bool {
	return len(s) >= 3 && isDigit(s[0]) && isDigit(s[1]) && isDigit(s[2]) && (len(s) == 3 || !isDigit(s[3]))
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
