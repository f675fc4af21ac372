package theme

import (
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

func TestUnicodeDecision(t *testing.T) {
	for _, c := range []struct {
		env  uv.Environ
		want bool
	}{
		{uv.Environ{"TERM=xterm-256color", "LANG=en_US.UTF-8"}, true},
		{uv.Environ{"TERM=xterm-256color", "LANG=de_DE.utf8"}, true},
		{uv.Environ{"TERM=xterm-256color"}, true}, // nothing said
		{uv.Environ{"TERM=xterm-256color", "LC_ALL=C", "LANG=en_US.UTF-8"}, false},
		{uv.Environ{"TERM=xterm-256color", "LC_ALL=", "LC_CTYPE=POSIX", "LANG=en_US.UTF-8"}, false},
		{uv.Environ{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "LANG=C"}, true},
		{uv.Environ{"TERM=xterm-256color", "LANG=de_DE.ISO-8859-1"}, false},
		{uv.Environ{"TERM=linux", "LANG=en_US.UTF-8"}, false},
		{uv.Environ{"TERM=vt220", "LANG=en_US.UTF-8"}, false},
		{uv.Environ{"TERM=dumb"}, false},
	} {
		if got := Unicode(c.env); got != c.want {
			t.Errorf("%v draws Unicode: %v, want %v", c.env, got, c.want)
		}
	}
}

func TestColorDecision(t *testing.T) {
	for _, c := range []struct {
		flag string
		env  uv.Environ
		want colorprofile.Profile
	}{
		{"auto", uv.Environ{"TERM=xterm-256color", "NO_COLOR=yes"}, colorprofile.ASCII},
		{"", uv.Environ{"TERM=dumb"}, colorprofile.NoTTY},
		{"never", uv.Environ{"TERM=xterm-256color", "CLICOLOR_FORCE=1"}, colorprofile.ASCII},
		{"always", uv.Environ{"TERM=dumb", "NO_COLOR=1"}, colorprofile.ANSI256},
		{"auto", uv.Environ{"TERM=xterm-256color", "CLICOLOR_FORCE=1"}, colorprofile.ANSI256},
	} {
		if got := Profile(c.flag, io.Discard, c.env); got != c.want {
			t.Errorf("--color=%s with %v is %v, want %v", c.flag, c.env, got, c.want)
		}
	}
}

// luminance is that of WCAG for a colour of the 256-colour palette.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(color, &n); err != nil || n < 16 {
		t.Fatalf("%q is not of the upper palette", color)
	}
	levels := [6]int{0, 95, 135, 175, 215, 255}
	rgb := [3]int{8 + 10*(n-232), 8 + 10*(n-232), 8 + 10*(n-232)}
	if n < 232 {
		rgb = [3]int{levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]}
	}
	return 0.2126*linear(rgb[0]) + 0.7152*linear(rgb[1]) + 0.0722*linear(rgb[2])
}

func TestColoursCanBeReadOnBlackAndOnWhite(t *testing.T) {
	p := colours256
	for color, least := range map[string]float64{
		p.grey: 4.5, p.frame: 4.5, p.blue: 4.5, p.purple: 4.5, p.green: 4.5,
		p.orange: 3, p.yellow: 3, p.red: 3,
		p.gaps[0]: 3, p.gaps[1]: 3, p.gaps[2]: 3, p.gaps[3]: 3, p.gaps[4]: 3,
	} {
		l := luminance(t, color)
		if white, black := 1.05/(l+0.05), (l+0.05)/0.05; white < least || black < least {
			t.Errorf("colour %s has a contrast of %.2f on white and %.2f on black, want %v", color, white, black, least)
		}
	}
	th := New(colorprofile.ANSI256, false)
	if !th.P95.GetBold() || !th.Warn.GetBold() || !th.Bad.GetBold() {
		t.Error("a colour below 4.5 is not bold")
	}
}

func TestWithoutColourFaintMeansOnlyWeak(t *testing.T) {
	th := New(colorprofile.ASCII, false)
	if th.P50.GetFaint() || th.P95.GetFaint() || th.P99.GetFaint() || !th.Dim.GetFaint() {
		t.Error("a percentile looks like one of too few samples")
	}
}

func linear(v int) float64 {
	c := float64(v) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}
