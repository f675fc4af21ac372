package doctor

import (
	"cmp"
	"fmt"
	"os"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"

	"sonde/ui/theme"
)

// Terminal is what the live screen would be shown on.
type Terminal struct {
	Is            bool // standard input and output are one
	Width, Height int  // cells; 0 is unknown
	Colors        string
	UTF8          bool
	Name          string // what TERM calls it, and the multiplexer that it runs in
}

// TerminalOf examines the terminal behind standard input and output.
func TerminalOf(in, out *os.File, env uv.Environ) Terminal {
	t := Terminal{Is: term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())), UTF8: theme.Unicode(env)}
	t.Width, t.Height, _ = term.GetSize(int(out.Fd()))
	t.Colors = colors[theme.Profile("auto", out, env)]
	t.Name = called(env)
	return t
}

var colors = map[colorprofile.Profile]string{
	colorprofile.TrueColor: "true colour", colorprofile.ANSI256: "256 colours", colorprofile.ANSI: "16 colours",
}

// called names the terminal, and the multiplexer between us and the real one, which may
// know fewer colours.
func called(env uv.Environ) string {
	name := cmp.Or(env.Getenv("TERM"), "TERM is not set")
	for _, m := range [][2]string{{"TMUX", "tmux"}, {"STY", "screen"}, {"ZELLIJ", "zellij"}} {
		if env.Getenv(m[0]) != "" {
			return name + ", inside " + m[1]
		}
	}
	return name
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
		s.missing("colours", "none ("+t.Name+")", "set TERM=xterm-256color, unset NO_COLOR, or use --color always")
	} else {
		s.ok("colours", fmt.Sprintf("%s (%s)", t.Colors, t.Name))
	}
	if t.UTF8 {
		s.ok("characters", "UTF-8")
	} else {
		s.missing("characters", "the locale is not UTF-8", "set LANG=C.UTF-8, or use --ascii")
	}
}
