package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Profile decides what may be written to the terminal. The flag wins over the
// environment. NO_COLOR counts with any non-empty value, which the library reads
// as a boolean; CLICOLOR_FORCE forces colour; a dumb terminal gets no attributes
// at all.
func Profile(flag string, out io.Writer, env Environment) colorprofile.Profile {
	switch {
	case flag == "never":
		return colorprofile.ASCII
	case flag == "always":
		return atLeast256(out, env)
	case env.Get("TERM") == "dumb":
		return colorprofile.NoTTY
	case env.Get("NO_COLOR") != "":
		return colorprofile.ASCII
	case env.Get("CLICOLOR_FORCE") != "" && env.Get("CLICOLOR_FORCE") != "0":
		return atLeast256(out, env)
	}
	return colorprofile.Detect(out, env)
}

// atLeast256 is for colour on demand: more than detected only where nothing was.
func atLeast256(out io.Writer, env Environment) colorprofile.Profile {
	if p := colorprofile.Detect(out, env); p >= colorprofile.ANSI {
		return p
	}
	return colorprofile.ANSI256
}

// Environment is a list of KEY=value, as os.Environ gives it.
type Environment []string

func (e Environment) Get(key string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if len(e[i]) > len(key) && e[i][len(key)] == '=' && e[i][:len(key)] == key {
			return e[i][len(key)+1:]
		}
	}
	return ""
}

// Unicode reports whether blocks and braille can be drawn: the locale says
// UTF-8, and the terminal is none of those whose fonts lack them. No locale
// at all, as in most containers, says nothing: terminals of today take UTF-8.
func Unicode(env Environment) bool {
	if plainTerminal(env.Get("TERM")) {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if locale := env.Get(name); locale != "" {
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
