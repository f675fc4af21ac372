package plain

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// shortestSecret is the length from which a value is looked for in a message;
// shorter ones would blank out words.
const shortestSecret = 8

// Hide blanks the secrets that a server echoes, as they are or percent-encoded, in whole
// or in part. Servers also like to show just the end of a refused key.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < shortestSecret {
			continue
		}
		end := len(secret) - shortestSecret
		for !utf8.RuneStart(secret[end]) && end > 0 {
			end--
		}
		for _, s := range []string{secret, secret[end:]} {
			text = echoed(s).ReplaceAllLiteralString(text, "…")
		}
	}
	return text
}

// echoed matches a secret of which any character may be percent-encoded, even more than
// once (%2F, %252F), in either case. Which characters are encoded differs by server.
func echoed(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, r := range secret {
		fmt.Fprintf(&b, "(?:%s|", regexp.QuoteMeta(string(r)))
		if r == ' ' {
			b.WriteString(`\+|`)
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "(?i:%%(?:25)*%02x)", c)
		}
		b.WriteByte(')')
	}
	return regexp.MustCompile(b.String())
}
