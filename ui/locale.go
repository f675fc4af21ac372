package ui

import "strings"

// drawsUnicode tells whether blocks and braille can be drawn: the locale says
// UTF-8, and the terminal is none of those whose fonts lack them. Nothing set is
// no statement, as in most containers: terminals of today take UTF-8.
func drawsUnicode(env environment) bool {
	if plainTerminal(env.get("TERM")) {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if locale := env.get(name); locale != "" {
			locale = strings.ToUpper(locale)
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return true
}

// plainTerminal tells whether a terminal is a text console or an old one.
func plainTerminal(kind string) bool {
	switch kind {
	case "dumb", "linux", "ansi", "cons25", "sun", "wsvt25", "vt52":
		return true
	}
	return strings.HasPrefix(kind, "vt1") || strings.HasPrefix(kind, "vt2") || strings.HasPrefix(kind, "linux-")
}
