package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Fit returns exactly h lines of exactly w cells: longer text is cut, shorter padded
// with blanks. It counts cells, not bytes, keeps styles, and closes a style that the
// line leaves open.
func Fit(lines []string, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	fitted := make([]string, h)
	for i := range fitted {
		if i < len(lines) {
			fitted[i] = fitLine(lines[i], w)
		} else {
			fitted[i] = strings.Repeat(" ", w)
		}
	}
	return fitted
}

func fitLine(s string, w int) string {
	if w == 0 {
		return ""
	}
	s = strings.Map(dropControl, s)
	width := ansi.StringWidth(s)
	if width > w {
		s = ansi.Truncate(s, w, "")
		width = ansi.StringWidth(s)
	}
	s = closeStyle(s)
	if width == w {
		return s
	}
	// A broken escape sequence swallows what follows, and a few characters change their
	// width with their neighbours: then only plain text is left to trust.
	padded := pad(s, w-width)
	if ansi.StringWidth(padded) == w {
		return padded
	}
	text := strings.Map(ToASCII, ansi.Strip(s))
	text = text[:min(len(text), w)]
	return pad(text, w-len(text))
}

// dropControl removes what moves the cursor, and keeps the escape that starts a style.
func dropControl(r rune) rune {
	if r < ' ' && r != ansi.ESC || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// closeStyle ends the style of s if its last escape sequence is not a reset.
func closeStyle(s string) string {
	i := strings.LastIndexByte(s, ansi.ESC)
	if i < 0 || strings.HasPrefix(s[i:], "\x1b[m") || strings.HasPrefix(s[i:], "\x1b[0m") {
		return s
	}
	return s + ansi.ResetStyle
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(n, 0)) }
