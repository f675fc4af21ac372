package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes a text from elsewhere safe for screens, logs and files: one line, no
// control, escape or direction-changing characters, and at most so many runes.
// White space in a row becomes one blank.
func Line(s string, maxRunes int) string {
	var b strings.Builder
	space, runes := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) && r != '\u0085': // NEL steers terminals
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			continue
		}
		if runes == maxRunes {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		runes++
	}
	return b.String()
}

// FirstFew lists names: there may be hundreds.
func FirstFew(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
