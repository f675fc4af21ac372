package page

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain is a text in one line that cannot steer a terminal: texts come from
// servers.
func Plain(s string) string {
	return Visible(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, s))
}

// Visible writes control characters as escapes that can be read, except the ends of
// lines. Characters that reverse the direction of writing are among them: they make
// a text look like another.
func Visible(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
