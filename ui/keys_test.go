package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/units"
	"sonde/ui/panel"
	"sonde/ui/text"
)

func TestNoKeyHasTwoMeanings(t *testing.T) {
	seen := map[string]string{}
	for _, c := range commands() {
		for _, k := range c.keys {
			if other, twice := seen[k]; twice {
				t.Errorf("%q means %q and %q", k, other, c.text)
			}
			seen[k] = c.text
		}
	}
}

// Every text is there in full, and so is the legend; what does not fit is reached
// by scrolling.
func TestHelpListsEveryCommandInFull(t *testing.T) {
	m := at(newFake(1).play(time.Second), 120, 40)
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		pressAll(m, "?")
		text := scrolledText(m)
		for _, c := range commands() {
			if c.text == "" || !strings.Contains(text, c.shown) || !strings.Contains(text, c.text) {
				t.Errorf("%v: the help lacks %q %q", size, c.shown, c.text)
			}
		}
		for _, w := range words() {
			if !strings.Contains(text, strings.Join(w.names, ", ")+" "+w.form) {
				t.Errorf("%v: the help lacks :%s %q", size, w.names[0], w.form)
			}
		}
		for _, s := range legend(m.theme) {
			if !strings.Contains(text, s.sign+" ") || !strings.Contains(text, s.meaning) {
				t.Errorf("%v: the legend lacks %q %q", size, s.sign, s.meaning)
			}
		}
		pressAll(m, "?")
	}
}

// scrolledText reads an overlay line by line from its top to its end, as one line
// with single blanks.
func scrolledText(m *model) string {
	first := func() string {
		line := strings.Split(ansi.Strip(m.View().Content), "\n")[2]
		return strings.Trim(line, "│")
	}
	var words []string
	for at := 0; ; at++ {
		press(m, "down")
		moved := m.scrolled > at
		if !moved { // the last page
			for _, l := range strings.Split(ansi.Strip(m.View().Content), "\n")[2:m.layout.body.h] {
				words = append(words, strings.Fields(strings.Trim(l, "│"))...)
			}
			return strings.Join(words, " ")
		}
		press(m, "up")
		words = append(words, strings.Fields(first())...)
		press(m, "down")
	}
}

func TestWithAnOverlayOpenTheArrowsScroll(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 60, 16)
	before := s.Load()
	for _, keys := range []string{"?", "i", "v"} {
		pressAll(m, keys)
		for _, k := range []string{"down", "pgdown", "up", "pgup"} {
			press(m, k)
		}
		if m.scrolled != 0 || s.Load() != before {
			t.Errorf("%s: scrolled to %d, load %+v", keys, m.scrolled, s.Load())
		}
		press(m, "esc")
	}
	press(m, "up")
	if s.Load().Concurrency != 5 {
		t.Error("after the overlay the arrows do not change the load")
	}
}

func TestKeyLineFitsAndKeepsWhatMatters(t *testing.T) {
	th := newTestTheme()
	for w := 60; w < 200; w += 9 {
		line := ansi.Strip(keyLine(th, commands(), lineOrder, w))
		if got := ansi.StringWidth(line); got != w {
			t.Errorf("width %d: %d cells", w, got)
		}
		for _, want := range []string{"? help", "q quit", "↑↓ concurrency", "0 stop"} {
			if !strings.Contains(line, want) {
				t.Errorf("width %d: no %q in %q", w, want, line)
			}
		}
	}
	for _, word := range lineOrder {
		if !slices.ContainsFunc(commands(), func(c command) bool { return c.line == word }) {
			t.Errorf("no command has the word %q", word)
		}
	}
}

// press sends a key by its name.
func press(m *model, name string) tea.Cmd {
	codes := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape}
	if code, ok := codes[name]; ok {
		_, cmd := m.Update(tea.KeyPressMsg{Code: code})
		return cmd
	}
	r := []rune(name)[0]
	_, cmd := m.Update(tea.KeyPressMsg{Code: r, Text: name})
	return cmd
}

func TestLoadKeys(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want frame.Load
	}{
		{[]string{"up", "+", "="}, frame.Load{Concurrency: 7, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"down", "-"}, frame.Load{Concurrency: 2, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"pgup", "pgup"}, frame.Load{Concurrency: 16, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"pgdown", "pgdown", "pgdown", "pgdown"}, frame.Load{Concurrency: 0, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"right", "right"}, frame.Load{Concurrency: 4, InputTokens: 512, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"left"}, frame.Load{Concurrency: 4, InputTokens: 192, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"]"}, frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 192, Prefix: "unique"}},
		{[]string{"[", "["}, frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 64, Prefix: "unique"}},
		{[]string{"p"}, frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 128, Prefix: "shared"}},
		{[]string{"p", "p", "p"}, frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"0"}, frame.Load{Concurrency: 0, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
		{[]string{"x"}, frame.Load{Concurrency: 0, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}},
	} {
		s := newFake(4)
		s.load = frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}
		m := at(s, 80, 24)
		for _, k := range c.keys {
			press(m, k)
		}
		if got := s.Load(); got != c.want {
			t.Errorf("%v: load %+v, want %+v", c.keys, got, c.want)
		}
		if !strings.Contains(ansi.Strip(m.View().Content), "c "+text.Right(units.Whole(float64(c.want.Concurrency)), 3)) {
			t.Errorf("%v: the screen does not show the requested load at once", c.keys)
		}
	}
}

func TestInAnOpenLoopTheRateMoves(t *testing.T) {
	s := newFake(4)
	s.load = frame.Load{Concurrency: 32, Rate: 4, InputTokens: 256, OutputTokens: 128}
	m := at(s, 80, 24)
	for _, step := range []struct {
		key  string
		rate float64
		cap  int
	}{{"up", 5, 32}, {"pgup", 10, 32}, {"down", 9, 32}, {"0", 9, 0}, {"up", 9, 32}} {
		press(m, step.key)
		if got := s.Load(); !near(got.Rate, step.rate) || got.Concurrency != step.cap {
			t.Errorf("after %s: %v req/s under %d, want %v under %d", step.key, got.Rate, got.Concurrency, step.rate, step.cap)
		}
	}
}

func TestArrivalsStepToBursts(t *testing.T) {
	s := newFake(4)
	s.load = frame.Load{Concurrency: 32, Rate: 4, Arrivals: arrivals.Poisson, InputTokens: 256, OutputTokens: 128}
	m := at(s, 120, 40)
	for _, want := range []string{"constant", "gamma:2", "gamma:4", "poisson"} {
		press(m, "b")
		if got := s.Load().Arrivals.String(); got != want {
			t.Errorf("arrivals are %s, want %s", got, want)
		}
		if !strings.Contains(ansi.Strip(m.View().Content), want) {
			t.Errorf("the screen does not show %s", want)
		}
	}
	s.load.Rate = 0
	press(m, "b")
	if s.Load().Arrivals != arrivals.Poisson {
		t.Error("the arrivals of a closed loop were changed")
	}
}

func TestARampFromTheKeyboard(t *testing.T) {
	s := newFake(4)
	s.load = frame.Load{Concurrency: 32, Rate: 4, InputTokens: 256, OutputTokens: 128}
	m := at(s, 120, 40)
	press(m, "R")
	if got := s.Load(); got.Rate != 8 || got.Ramp != (arrivals.Ramp{From: 4, Over: time.Minute}) {
		t.Errorf("a ramp of %+v to %v, want 4 to 8 within a minute", got.Ramp, got.Rate)
	}
	press(m, "up") // takes over from the ramp
	if got := s.Load(); got.Ramp != (arrivals.Ramp{}) {
		t.Errorf("the ramp goes on: %+v", got)
	}
}

func TestATraceSetsTheLoad(t *testing.T) {
	s := newFake(4)
	s.load = frame.Load{Concurrency: 32, Rate: 4, Trace: "t.jsonl", InputTokens: 256, OutputTokens: 128, Prefix: "unique"}
	m := at(s, 120, 40)
	before := s.Load()
	for _, key := range []string{"up", "pgdown", "left", "]", "p", "b", "R"} {
		press(m, key)
		if s.Load() != before {
			t.Errorf("%s changed the load to %+v", key, s.Load())
		}
		if !strings.Contains(ansi.Strip(m.View().Content), "the trace sets") {
			t.Errorf("%s: the screen does not say why nothing changes", key)
		}
	}
	press(m, "0") // the operator's brake works as ever
	if got := s.Load(); got.Concurrency != 0 || got.Trace != "t.jsonl" {
		t.Errorf("stopped: %+v", got)
	}
	press(m, "up")
	if got := s.Load(); got.Concurrency != 32 {
		t.Errorf("started again: %+v", got)
	}
}

func TestControlKeys(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 80, 24)
	for _, k := range []string{"l", "r", "w", "w", "x"} {
		press(m, k)
	}
	if want := []string{"long", "reset", "window", "window", "abort"}; !slices.Equal(s.calls, want) {
		t.Errorf("the controls were asked for %v, want %v", s.calls, want)
	}
	if s.seconds != 10 { // 30 → 60 → 10
		t.Errorf("the window is %d s, want 10", s.seconds)
	}
}

func TestARecordingHasNoControls(t *testing.T) {
	m := newModel(Options{Frames: newFake(2).play(time.Second)}, newTestTheme())
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, c := range commands() {
		m.do(&c)
	}
	press(m, "esc") // of the command line
	press(m, "esc") // of the texts over the panels, in which the arrow scrolls
	if press(m, "up"); !strings.Contains(ansi.Strip(m.View().Content), "this is a recording") {
		t.Errorf("nothing says why the load does not move:\n%s", screenOf(m))
	}
}

func TestFocusAndZoom(t *testing.T) {
	m := at(newFake(2).play(2*time.Second), 120, 40)
	press(m, "4")
	if m.focus != panel.Gap || m.zoomed {
		t.Errorf("key 4 leads to panel %d, zoomed %v", m.focus, m.zoomed)
	}
	press(m, "tab")
	press(m, "enter")
	if m.focus != panel.Tokens || !m.zoomed {
		t.Errorf("tab and enter lead to panel %d, zoomed %v", m.focus, m.zoomed)
	}
	press(m, "?")
	press(m, "esc")
	if m.overlay != overlayNone || !m.zoomed {
		t.Error("esc closes more than the topmost")
	}
	press(m, "esc")
	if m.zoomed {
		t.Error("esc does not leave the zoom")
	}
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 16})
	press(m, "8") // has no place of its own at this size
	if !m.zoomed || !strings.Contains(ansi.Strip(m.View().Content), "streams") {
		t.Error("a panel that fell out cannot be reached")
	}
}

// hasPicture complains if the picture does not show the screen.
func hasPicture(svg string) error {
	if !strings.HasPrefix(svg, "<svg") || !strings.Contains(svg, "TPOT") {
		return errors.New("no picture of the screen")
	}
	return nil
}

func TestSavingTellsHowItWent(t *testing.T) {
	m := at(newFake(1).play(time.Second), 80, 24)
	for _, c := range []struct {
		save func(svg, cast string) (string, error)
		want string
	}{
		{func(svg, _ string) (string, error) { return "sonde-1.json", hasPicture(svg) }, "saved sonde-1.json"},
		{func(string, string) (string, error) { return "", errors.New("disk full") }, "not saved: disk full"},
		{func(string, string) (string, error) { panic("oh") }, "not saved: saving: internal error: oh"},
	} {
		m.Save = c.save
		m.Update(press(m, "e")())
		if text := ansi.Strip(m.View().Content); !strings.Contains(text, c.want) {
			t.Errorf("the screen lacks %q", c.want)
		}
	}
}

func TestSteps(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 16}, 16: {1, 24}, 256: {192, 384}, 300: {256, 384}, 384: {256, 512}, longest: {longest * 3 / 4, longest}} {
		if got := [2]int{stepDown(n), stepUp(n)}; got != want {
			t.Errorf("from %d to %v, want %v", n, got, want)
		}
	}
}
