package gpu

import (
	"strings"
	"unicode"
)

const maxLabelRunes = 120

// clean makes text from a driver or an exporter safe for a terminal: control
// and format characters go, and it is cut at a sensible length.
func clean(s string) string {
	kept := 0
	return strings.Map(func(r rune) rune {
		if kept == maxLabelRunes || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		kept++
		return r
	}, s)
}

// joinNotes puts what is to be said into one line, leaving out what is empty.
func joinNotes(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}
