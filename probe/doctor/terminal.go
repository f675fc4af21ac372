package doctor

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// Terminal is what the live screen would be shown on.
type Terminal struct {
	Is            bool // standard input and output are one
	Width, Height int  // cells; 0 is unknown
	Colors        string
	UTF8          bool
}

// terminalOf looks at the terminal behind standard input and output.
func terminalOf(in, out *os.File, environ []string) Terminal {
	t := Terminal{Is: term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))}
	t.Width, t.Height, _ = term.GetSize(int(out.Fd()))
	t.Colors = colorsOf(out, environ)
	t.UTF8 = utf8Locale(environ)
	return t
}

func colorsOf(out io.Writer, environ []string) string {
	switch colorprofile.Detect(out, environ) {
	case colorprofile.TrueColor:
		return "true colour"
	case colorprofile.ANSI256:
		return "256 colours"
	case colorprofile.ANSI:
		return "16 colours"
	}
	return ""
}

// utf8Locale tells whether the locale says UTF-8. The first of the three that is
// set decides.
func utf8Locale(environ []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := lookup(environ, name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return false
}

func lookup(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// The screen shows everything at once from the first size on, and something down
// to the second.
const (
	fullWidth, fullHeight   = 120, 40
	floorWidth, floorHeight = 60, 16
)

func (s section) terminal(t Terminal) {
	if !t.Is {
		s.missing("terminal", "none on standard input and output: no live screen here", "sonde bench needs none; over SSH use ssh -t")
		return
	}
	size := fmt.Sprintf("%d×%d", t.Width, t.Height)
	switch {
	case t.Width < floorWidth || t.Height < floorHeight:
		s.missing("terminal size", size+" is too small for the live screen", fmt.Sprintf("make it at least %d×%d, better %d×%d", floorWidth, floorHeight, fullWidth, fullHeight))
	case t.Width < fullWidth || t.Height < fullHeight:
		s.ok("terminal size", fmt.Sprintf("%s: panels are shown in turn; %d×%d shows all at once", size, fullWidth, fullHeight))
	default:
		s.ok("terminal size", size)
	}
	if t.Colors == "" {
		s.missing("colours", "none", "set TERM (xterm-256color), unset NO_COLOR, or give --color always")
	} else {
		s.ok("colours", t.Colors)
	}
	if t.UTF8 {
		s.ok("characters", "UTF-8")
	} else {
		s.missing("characters", "the locale does not say UTF-8", "set LANG=C.UTF-8, or give --ascii")
	}
}
