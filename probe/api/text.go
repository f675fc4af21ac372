package api

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessageRunes bounds what is kept of a server's error message.
const maxMessageRunes = 300

// cleanMessage makes a server's text safe for screens, logs and files: one line,
// no control, escape or direction-changing characters, of bounded length.
func cleanMessage(s string) string {
	var b strings.Builder
	space, runes := false, 0
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == ' ':
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			continue
		}
		if runes == maxMessageRunes {
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
