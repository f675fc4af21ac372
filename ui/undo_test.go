package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
)

// Each change of the load can be taken back, the last one first, and the screen says what came
// back.
func TestUndoBringsTheLoadBack(t *testing.T) {
	began := frame.Load{Concurrency: 4, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}
	for _, c := range []struct{ key, says string }{
		{"up", "undone: concurrency 5 → 4"},
		{"pgup", "undone: concurrency 8 → 4"},
		{"right", "undone: prompt 384 → 256 tokens"},
		{"]", "undone: output 192 → 128 tokens"},
		{"p", "undone: prompts: shared → unique prefixes"},
		{"0", "undone: concurrency 0 → 4"},
		{"x", "undone: concurrency 0 → 4"},
	} {
		s := newFake(4)
		s.load = began
		m := at(s, 120, 40)
		press(m, c.key)
		press(m, "u")
		if s.Load() != began {
			t.Errorf("%s, u: %+v, want %+v", c.key, s.Load(), began)
		}
		if !strings.Contains(ansi.Strip(m.View().Content), c.says) {
			t.Errorf("%s, u: the screen does not say %q but %q", c.key, c.says, m.notice.text)
		}
	}
}

func TestUndoGoesBackStepByStep(t *testing.T) {
	s := newFake(4).play(time.Second)
	m := at(s, 120, 40)
	for _, key := range []string{"up", "up", "down", "0", "0"} { // 5, 6, 5, 0; the second 0 changes nothing
		press(m, key)
	}
	for _, want := range []int{5, 6, 5, 4, 4} {
		if press(m, "u"); s.Load().Concurrency != want {
			t.Errorf("%d streams, want %d", s.Load().Concurrency, want)
		}
	}
	if !strings.Contains(m.notice.text, "nothing to undo") {
		t.Errorf("at the beginning undo says %q", m.notice.text)
	}
}

// What a sweep or another operator has brought back meanwhile is no step.
func TestUndoSkipsWhatHolds(t *testing.T) {
	s := newFake(4)
	m := at(s, 120, 40)
	press(m, "up")
	press(m, "up")
	s.ChangeLoad(func(l *frame.Load) { l.Concurrency = 5 })
	if press(m, "u"); s.Load().Concurrency != 4 {
		t.Errorf("%d streams, want 4", s.Load().Concurrency)
	}
}
