package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// While there is a cursor the arrows move it, and not the prompt length; c or esc takes it
// away.
func TestTheCursorTakesTheArrows(t *testing.T) {
	m := busy(120, 40) // 75 s: the newest column is 74, whose number from 1 is 75
	before := m.Controls.Load().InputTokens
	for _, step := range []struct {
		keys string
		want int64
	}{
		{"c", 75}, {"left", 74}, {"left", 73}, {"right", 74}, {"right right", 75}, {"shift+left", 65}, {"c", 0}, {"c esc", 0},
	} {
		if pressNames(m, step.keys); m.cursor != step.want {
			t.Errorf("%s: the cursor is at %d, want %d", step.keys, m.cursor, step.want)
		}
	}
	if got := m.Controls.Load().InputTokens; got != before {
		t.Errorf("the prompt length went from %d to %d", before, got)
	}
	if press(m, "left"); m.Controls.Load().InputTokens == before {
		t.Error("without a cursor the arrow does not change the prompt length")
	}
}

// The load rises after 20 s, the judge saw an incident at 25 s, and a long prompt is sent at 60 s.
func TestTheCursorJumpsToMarks(t *testing.T) {
	m := busy(120, 40)
	for _, want := range []string{"00:01:00 a long prompt was sent", "00:00:25 began: overload", "00:00:20 the load was changed"} {
		if press(m, "("); m.notice.text != want {
			t.Errorf("%q, want %q", m.notice.text, want)
		}
	}
	press(m, ")")
	if press(m, ")"); m.cursor != 61 {
		t.Errorf("the cursor is at %d", m.cursor)
	}
	if press(m, ")"); !strings.Contains(m.notice.text, "no further mark") || m.cursor != 61 {
		t.Errorf("at %d: %s", m.cursor, m.notice.text)
	}
}

// The line keeps its moment while the session goes on, and the mouse moves it: at the right
// edge of a chart is now.
func TestTheCursorKeepsItsMoment(t *testing.T) {
	s := newFake(4).play(20 * time.Second)
	m := at(s, 120, 40)
	pressNames(m, "c left left")
	before := m.cursor
	watch(m, s, 10*time.Second)
	if m.cursor != before || !strings.Contains(screen(m), "│ 00:00:17, −12 s") {
		t.Errorf("at %d, before at %d:\n%s", m.cursor, before, screen(m))
	}
	if m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("the mouse is not asked for")
	}
	p := m.layout.bands[1][0]
	m.Update(tea.MouseClickMsg{X: p.x + p.w - 2, Y: p.y + 2, Button: tea.MouseLeft})
	if m.cursor != m.live.History.Newest()+1 {
		t.Errorf("the mouse at the edge moves the cursor to %d", m.cursor)
	}
	m.Update(tea.MouseMotionMsg{X: p.x + p.w - 7, Y: p.y + 2, Button: tea.MouseLeft})
	if m.cursor != m.live.History.Newest()-4 {
		t.Errorf("the mouse 5 cells before it moves the cursor to %d", m.cursor)
	}
	if press(m, "c"); m.View().MouseMode != tea.MouseModeNone {
		t.Error("without a cursor the terminal does not have the mouse")
	}
}
