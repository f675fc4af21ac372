package theme

import (
	"io"
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

func TestWithoutColourFaintMeansOnlyWeak(t *testing.T) {
	th := New(colorprofile.ASCII, false)
	if th.P50.GetFaint() || th.P95.GetFaint() || th.P99.GetFaint() || !th.Dim.GetFaint() {
		t.Error("a percentile looks like one of too few samples")
	}
}
