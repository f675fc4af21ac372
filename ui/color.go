package ui

import (
	"io"

	"github.com/charmbracelet/colorprofile"
)

// profileFor decides what may be written to the terminal. The flag wins over the
// environment. NO_COLOR counts with any non-empty value, which the library reads
// as a boolean; CLICOLOR_FORCE forces colour; a dumb terminal gets no attributes
// at all.
func profileFor(flag string, out io.Writer, env environment) colorprofile.Profile {
	switch {
	case flag == "never":
		return colorprofile.ASCII
	case flag == "always":
		return atLeast256(out, env)
	case env.get("TERM") == "dumb":
		return colorprofile.NoTTY
	case env.get("NO_COLOR") != "":
		return colorprofile.ASCII
	case env.get("CLICOLOR_FORCE") != "" && env.get("CLICOLOR_FORCE") != "0":
		return atLeast256(out, env)
	}
	return colorprofile.Detect(out, env)
}

// atLeast256 is for colour on demand: more than detected only where nothing was.
func atLeast256(out io.Writer, env environment) colorprofile.Profile {
	if p := colorprofile.Detect(out, env); p >= colorprofile.ANSI {
		return p
	}
	return colorprofile.ANSI256
}

// environment is a list of KEY=value, as os.Environ gives it.
type environment []string

func (e environment) get(key string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if len(e[i]) > len(key) && e[i][len(key)] == '=' && e[i][:len(key)] == key {
			return e[i][len(key)+1:]
		}
	}
	return ""
}
