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
	Name          string // what TERM calls it
	Inside        string // the multiplexer that it runs in: "tmux", "screen", …; "" for none
}

// terminalOf examines the terminal behind standard input and output.
func terminalOf(in, out *os.File, environ []string) Terminal {
	t := Terminal{Is: term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))}
	t.Width, t.Height, _ = term.GetSize(int(out.Fd()))
	t.Colors = colorsOf(out, environ)
	t.UTF8 = utf8Locale(environ)
	t.Name, t.Inside = lookup(environ, "TERM"), multiplexer(environ)
	return t
}

// multiplexer names the program between us and the real terminal, which may know
// fewer colours than it.
func multiplexer(environ []string) string {
	for _, m := range [][2]string{{"TMUX", "tmux"}, {"STY", "screen"}, {"ZELLIJ", "zellij"}} {
		if lookup(environ, m[0]) != "" {
			return m[1]
		}
	}
	return ""
}

// called is the terminal by name.
func (t Terminal) called() string {
	name := t.Name
	if name == "" {
		name = "TERM is not set"
	}
	if t.Inside != "" {
		name += ", inside " + t.Inside
	}
	return name
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

// utf8Locale reports whether the locale is a UTF-8 one. The first of the three that
// is set decides.
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
		s.missing("terminal", "standard input and output are not a terminal: no live screen here", "use sonde bench, which needs none, or ssh -t over SSH")
		return
	}
	size := fmt.Sprintf("%d×%d", t.Width, t.Height)
	switch {
	case t.Width < floorWidth || t.Height < floorHeight:
		s.missing("terminal size", size+" is too small for the live screen", fmt.Sprintf("enlarge it to at least %d×%d, ideally %d×%d", floorWidth, floorHeight, fullWidth, fullHeight))
	case t.Width < fullWidth || t.Height < fullHeight:
		s.ok("terminal size", fmt.Sprintf("%s: shows some panels at a time; %d×%d shows all", size, fullWidth, fullHeight))
	default:
		s.ok("terminal size", size)
	}
	if t.Colors == "" {
		s.missing("colours", "none ("+t.called()+")", "set TERM=xterm-256color, unset NO_COLOR, or use --color always")
	} else {
		s.ok("colours", fmt.Sprintf("%s (%s)", t.Colors, t.called()))
	}
	if t.UTF8 {
		s.ok("characters", "UTF-8")
	} else {
		s.missing("characters", "the locale is not UTF-8", "set LANG=C.UTF-8, or use --ascii")
	}
}
