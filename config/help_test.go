package config

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

func TestHelpFitsAndIsPlain(t *testing.T) {
	clean(t)
	t.Setenv("CLICOLOR_FORCE", "1") // a pipe stays plain even so
	for _, args := range []string{"--help", "bench --help", "sim --help", "canary --help", "completion --help", "man --help", "help", "help bench", "bench h:1 -c 3 --help", "--help sim"} {
		o := call(strings.Fields(args)...)
		if o.code != 0 || o.command != "" || o.stderr != "" {
			t.Errorf("%s: code %d, ran %q, stderr %q", args, o.code, o.command, o.stderr)
		}
		if n := strings.Count(o.stdout, "\n"); n > 40 || n < 5 {
			t.Errorf("%s: %d lines", args, n)
		}
		isPlain(t, args, o.stdout)
	}
	for _, args := range []string{"--help", "bench --help", "sim --help", "canary --help"} {
		if o := call(strings.Fields(args)...); !strings.Contains(o.stdout, "Examples:\n  sonde") {
			t.Errorf("%s has no examples", args)
		}
	}
}

func isPlain(t *testing.T, args, text string) {
	t.Helper()
	if strings.Contains(text, "\x1b") {
		t.Errorf("%s: escape codes in %q", args, text)
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line)-1 > 80 || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%s: wider than 80 or blanks at the end: %q", args, line)
		}
	}
}

func TestHelpAllShowsEveryFlag(t *testing.T) {
	clean(t)
	if out := call("--help-all").stdout; strings.Contains(out, "--kv-gb") {
		t.Error("sonde takes a flag of sonde sim")
	}
	for _, c := range commands {
		out := call(append(strings.Fields(c.name), "--help-all")...).stdout
		isPlain(t, c.name, out)
		for _, s := range c.settings(&Config{}) {
			if s.flagOf(c.name) && !strings.Contains(out, "--"+s.flagName()+" ") {
				t.Errorf("sonde %s --help-all does not show --%s", c.name, s.flagName())
			}
		}
	}
}

func TestHelpAndVersionWorkAnywhere(t *testing.T) {
	path := clean(t)
	write(t, path, "no settings file at all")
	t.Setenv("SONDE_NONSENSE", "1")
	for _, args := range []string{"--version", "bench --version", "sim --version", "completion bash --version", "man --version", "h:1 -c 2 --version"} {
		if o := call(strings.Fields(args)...); o.code != 0 || o.stdout != "sonde v1.2.3 (commit abcdef, date 2026-01-02T03:04:05Z, nvml: yes)\n" {
			t.Errorf("%s: code %d, %q", args, o.code, o.stdout)
		}
	}
	for _, args := range []string{"--help", "bench --help", "--help-all"} {
		if o := call(strings.Fields(args)...); o.code != 0 || !strings.Contains(o.stdout, "Usage:") {
			t.Errorf("%s: code %d, %q", args, o.code, o.stdout)
		}
	}
}

// On a terminal help has colours, unless the terminal or its user do not want them.
func TestHelpOnATerminal(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		coloured      bool
	}{{"", "xterm-256color", true}, {"1", "xterm-256color", false}, {"", "dumb", false}} {
		clean(t)
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		text := onTerminal(t, "bench", "--help")
		if strings.Contains(text, "\x1b[") != c.coloured || !strings.Contains(text, "--concurrency") {
			t.Errorf("NO_COLOR=%s TERM=%s: %q", c.noColor, c.term, text)
		}
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("NO_COLOR=%s TERM=%s: %d lines", c.noColor, c.term, n)
		}
	}
}

// onTerminal runs the program on a pseudo terminal and gives what it shows.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(outer) // ends with an error when the other side closes
		shown <- string(text)
	}()
	Execute(t.Context(), args, inner, inner, BuildInfo{}, Actions{})
	inner.Close()
	select {
	case text := <-shown:
		outer.Close()
		return text
	case <-time.After(time.Minute):
		t.Fatal("the terminal does not end")
		return ""
	}
}

func TestCompletion(t *testing.T) {
	clean(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := call("completion", shell); o.code != 0 || !strings.Contains(o.stdout, "sonde") {
			t.Errorf("%s: code %d, %q", shell, o.code, o.stderr)
		}
	}
	offers := func(args ...string) []string {
		return strings.Fields(call(append([]string{"__complete"}, args...)...).stdout)
	}
	if got := offers("bench", "--workload", ""); !slices.Equal(got[:len(got)-1], workloadNames()) {
		t.Errorf("workloads: %q", got)
	}
	for command, want := range map[string]string{"bench": "table json csv md vllm", "sweep": "table json csv md", "plan": "table json csv md", "doctor": "table json md"} {
		got := offers(command, "--format", "")
		if got := strings.Join(got[:len(got)-1], " "); got != want {
			t.Errorf("%s: formats %q", command, got)
		}
		if o := call(command, "--help"); strings.Contains(o.stdout, "vllm") != (command == "bench") {
			t.Errorf("%s: %s", command, o.stdout)
		}
	}
	if got := offers("bench", "--arriv"); !slices.Contains(got, "--arrivals") { // not in the short help
		t.Errorf("flags: %q", got)
	}
}

func TestManPage(t *testing.T) {
	clean(t)
	o := call("man")
	for _, want := range []string{`.TH SONDE 1 "2026-01-02"`, ".SH EXIT STATUS", `\fB-c --concurrency\fP`, "--idle-timeout", "--kv-gb", ".SH EXAMPLES"} {
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("code %d, %q is missing in the man page", o.code, want)
		}
	}
}

// A bound is written as people write numbers.
func TestBoundsHaveNoExponent(t *testing.T) {
	clean(t)
	if line := refused(t, "sim", "--kv-gb", "-3"); !strings.HasSuffix(line, "--kv-gb -3: must be 0 to 1000000") {
		t.Error(line)
	}
}

// "(automatic) (default 0s)" would say two things: a time of nothing is no default.
func TestHelpHasNoDefaultOfNothing(t *testing.T) {
	for _, name := range []string{"sweep", "replay"} {
		if o := call(name, "--help-all"); strings.Contains(o.stdout, "default 0s") {
			t.Errorf("%s: %s", name, o.stdout)
		}
	}
}
