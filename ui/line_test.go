package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/slo"
	"sonde/ui/text"
)

// enterLine types a command behind a colon and ends it with enter.
func enterLine(m *model, command string) {
	pressAll(m, ":"+command)
	press(m, "enter")
}

func TestTheCommandLineSetsTheLoad(t *testing.T) {
	began := frame.Load{Concurrency: 4, Arrivals: arrivals.Poisson, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}
	with := func(f func(*frame.Load)) frame.Load { l := began; f(&l); return l }
	for command, want := range map[string]frame.Load{
		"c 16":          with(func(l *frame.Load) { l.Concurrency = 16 }),
		"concurrency 0": with(func(l *frame.Load) { l.Concurrency = 0 }),
		"i 4k":          with(func(l *frame.Load) { l.InputTokens = 4000 }),
		"input 1024±256": with(func(l *frame.Load) {
			l.InputTokens, l.InputShape = 1024, length.Shape{Kind: length.Normal, Width: 0.25}
		}),
		"o 64":          with(func(l *frame.Load) { l.OutputTokens = 64 }),
		"prefix shared": with(func(l *frame.Load) { l.Prefix = "shared" }),
		"rate 4":        with(func(l *frame.Load) { l.Rate, l.Concurrency = 4, 256 }), // under the cap of the session
		"rate  1..20/10m ": with(func(l *frame.Load) {
			l.Rate, l.Concurrency, l.Ramp = 20, 256, arrivals.Ramp{From: 1, Over: 10 * time.Minute}
		}),
	} {
		s := newFake(4).play(time.Second)
		s.load = began
		m := at(s, 120, 40)
		if enterLine(m, command); s.Load() != want {
			t.Errorf("%q: %+v, want %+v", command, s.Load(), want)
		}
		if m.line.open || !strings.HasPrefix(m.notice.text, "load now: ") {
			t.Errorf("%q: open %v, %q", command, m.line.open, m.notice.text)
		}
		if press(m, "u"); s.Load() != began {
			t.Errorf("%q, u: %+v", command, s.Load())
		}
	}
}

func TestTheCommandLineInAnOpenLoop(t *testing.T) {
	s := newFake(4)
	s.load = frame.Load{Concurrency: 32, Rate: 4, Arrivals: arrivals.Poisson, InputTokens: 256, OutputTokens: 128}
	m := at(s, 120, 40)
	enterLine(m, "arrivals gamma:2.5")
	enterLine(m, "rate 6")
	if l := s.Load(); l.Arrivals.CV != 2.5 || l.Rate != 6 || l.Concurrency != 32 {
		t.Errorf("an open loop of %+v, want 6 requests/s with a CV of 2.5 under 32", l)
	}
	enterLine(m, "rate 0")
	if l := s.Load(); l.Rate != 0 || l.Concurrency != 1 {
		t.Errorf("a closed loop of %+v, want one stream", l)
	}
}

// A mistake is one line that says what to do; the line stays open to be corrected, and nothing
// has changed.
func TestMistakesOnTheCommandLine(t *testing.T) {
	s := newFake(4).play(time.Second)
	before := s.Load()
	for _, size := range [][2]int{{60, 16}, {120, 40}} {
		m := at(s, size[0], size[1])
		m.SetSLOs = func([]slo.Target) { t.Error("the SLOs were changed") }
		for command, want := range map[string]string{
			"c many": "concurrency must be a whole number", "c 500": "must be 0 to 256", "i -4": "input must be a number of tokens",
			"o 0": "output must be 1 to", "rate x": "rate must be", "arrivals gamma:2": "arrivals are of an open loop",
			"arrivals often": "arrivals must be poisson", "prefix x": "prefix must be unique, shared or same", "window 7": "window must be 10, 30 or 60",
			"slo ttft=1s": `slo "ttft=1s" must name`, "theme nosuch.toml": "theme must be default", "faster": `there is no command "faster"`,
		} {
			enterLine(m, command)
			if !m.line.open || !strings.Contains(m.notice.text, want) || s.Load() != before {
				t.Errorf("%q: open %v, %q lacks %q", command, m.line.open, m.notice.text, want)
			}
			if screen := screenOf(m); !strings.Contains(screen, ":"+command) || !strings.Contains(screen, "› ") {
				t.Errorf("%q: the screen has no line or no error:\n%s", command, screen)
			}
			press(m, "esc")
		}
	}
}

func TestTheCommandLineCompletesAndRemembers(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 120, 40)
	pressAll(m, ":the")
	press(m, "tab")
	pressAll(m, "l")
	press(m, "tab")
	if got := m.line.input.Value(); got != "theme light" {
		t.Errorf("completed to %q, want theme light", got)
	}
	press(m, "esc")
	if m.line.open || len(m.line.past) != 0 {
		t.Error("esc does not leave, or enters the line")
	}
	enterLine(m, "c 9")
	enterLine(m, "o 32")
	pressAll(m, ":")
	for _, step := range []struct{ key, want string }{{"up", "o 32"}, {"up", "c 9"}, {"up", "c 9"}, {"down", "o 32"}, {"down", ""}} {
		if press(m, step.key); m.line.input.Value() != step.want {
			t.Errorf("%s: %q, want %q", step.key, m.line.input.Value(), step.want)
		}
	}
	m.Update(tea.PasteMsg{Content: "i 64"})
	if press(m, "enter"); s.Load().InputTokens != 64 {
		t.Errorf("pasted, %d tokens", s.Load().InputTokens)
	}
}

func TestKeysOfTheScreenAreTextInTheCommandLine(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 120, 40)
	before := s.Load()
	pressAll(m, ":xq0l")
	if s.Load() != before || len(s.calls) > 0 || m.line.input.Value() != "xq0l" {
		t.Errorf("load %+v, calls %v, line %q", s.Load(), s.calls, m.line.input.Value())
	}
	if c := m.View().Cursor; c == nil || c.Y != 39 || c.X != 6 {
		t.Errorf("the cursor stands at %+v, want behind the text in the last line", c)
	}
	press(m, "esc")
	if pressAll(m, "x"); len(s.calls) != 1 || m.View().Cursor != nil {
		t.Errorf("after esc: calls %v, cursor %+v", s.calls, m.View().Cursor)
	}
	if pressAll(m, ":q"); press(m, "enter") == nil {
		t.Error(":q does not quit")
	}
}

func TestSLOsAndTheme(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 120, 40)
	var set []string
	m.SetSLOs = func(targets []slo.Target) { set = append(set, slo.Join(targets)) }
	enterLine(m, "slo ttft_p95=1s,success=99")
	enterLine(m, "slo")
	if want := "slo is ttft_p95=1s,success=99 "; !strings.HasPrefix(m.notice.text, want) {
		t.Errorf("%q, want %q …", m.notice.text, want)
	}
	enterLine(m, "slo off")
	if len(set) != 2 || set[0] != "ttft_p95=1s,success=99" || set[1] != "" || len(m.live.SLOs) != 0 {
		t.Errorf("set to %q, %d SLOs now", set, len(m.live.SLOs))
	}
	before := m.content
	if enterLine(m, "theme light"); !m.theme.Light || m.content == before {
		t.Error("the theme did not change")
	}
}

// Whoever only watches or replays is told why nothing is sent, as by the keys.
func TestTheCommandLineWithoutControls(t *testing.T) {
	m := newModel(Options{Frames: newFake(2).play(time.Second)}, newTestTheme())
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, command := range []string{"c 4", "i 4k", "o 1", "rate 2", "arrivals poisson", "prefix same", "slo off", "window 10", "c"} {
		if enterLine(m, command); !strings.Contains(m.notice.text, "this is a recording") {
			t.Errorf("%q: %q", command, m.notice.text)
		}
		press(m, "esc")
	}
}

func TestEveryWordFitsTheLine(t *testing.T) {
	for _, w := range words() {
		for _, name := range w.names {
			if wordNamed(name).names[0] != w.names[0] {
				t.Errorf("%s has two meanings", name)
			}
		}
		if got := text.Clip(w.form, 55); got != w.form {
			t.Errorf("%s: %q does not fit a narrow screen", w.names[0], w.form)
		}
	}
}

// A trace sets everything but whether it runs: 0 stops it, and a cap starts it again.
func TestTheCommandLineOnATrace(t *testing.T) {
	s := newFake(4).play(time.Second)
	began := frame.Load{Concurrency: 32, Rate: 4, Trace: "t.jsonl", InputTokens: 256, OutputTokens: 128, Prefix: "unique"}
	s.load = began
	m := at(s, 120, 40)
	for _, refused := range []string{"c 16", "i 64", "o 64", "rate 2", "arrivals constant", "prefix same"} {
		enterLine(m, refused)
		if s.Load() != began || !strings.HasPrefix(m.notice.text, "the trace sets") {
			t.Errorf("%q: %+v, %q", refused, s.Load(), m.notice.text)
		}
	}
	step := func(does func(), streams int) {
		t.Helper()
		does()
		if got := s.Load(); got.Concurrency != streams || got.Rate != 4 || got.Trace != "t.jsonl" {
			t.Errorf("%+v, want %d streams of the trace", got, streams)
		}
	}
	step(func() { press(m, "0") }, 0)
	step(func() { enterLine(m, "c 16") }, 16)
	if want := "load now: trace t.jsonl ≤ 16 streams"; m.notice.text != want {
		t.Errorf("after a new cap %q, want %q", m.notice.text, want)
	}
	step(func() { enterLine(m, "c 0") }, 0)
	if want := "load now: trace t.jsonl, stopped"; m.notice.text != want {
		t.Errorf("after a stop %q, want %q", m.notice.text, want)
	}
	step(func() { press(m, "up") }, 16) // the cap from before
}
