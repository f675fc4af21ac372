package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/units"
	"sonde/ui/panel"
)

// The cursor is a line through all charts at one moment of the session, which it keeps while
// the charts move on. model.cursor is the number of its column, from 1; 0: there is none.

// toggleCursor switches it on at the newest column, or off.
func (m *model) toggleCursor() {
	if m.cursor > 0 {
		m.cursor = 0
		return
	}
	m.moveCursor(0)
}

// cursorSteps are the keys that move the cursor, and by how many columns.
var cursorSteps = map[string]int64{"left": -1, "right": 1, "shift+left": -10, "shift+right": 10}

// point moves the cursor and reports whether the key was one for that: while there is a cursor
// these keys do not change the load.
func (m *model) point(key string) bool {
	by, ok := cursorSteps[key]
	if !ok || m.cursor == 0 || m.overlay != overlayNone {
		return false
	}
	m.moveCursor(by)
	return true
}

// moveCursor moves the cursor; without one it begins at the newest column.
func (m *model) moveCursor(by int64) {
	newest := m.shown.History.Newest() + 1
	if m.cursor == 0 {
		m.cursor = newest
	}
	m.cursor = m.kept(m.cursor + by)
}

// kept is the nearest column that the history has; 0 if it has none.
func (m *model) kept(cursor int64) int64 {
	h := m.shown.History
	if cursor == 0 || h.Newest() < h.Oldest() {
		return 0
	}
	return max(h.Oldest()+1, min(cursor, h.Newest()+1))
}

// pointTo puts the cursor where the mouse is. Time runs to the right edge of every chart.
func (m *model) pointTo(at tea.Mouse) {
	if m.cursor == 0 || m.overlay != overlayNone || at.Button != tea.MouseLeft {
		return
	}
	for _, band := range m.layout.bands {
		for _, p := range band {
			back := p.x + p.w - 2 - at.X
			if inside := at.Y >= p.y && at.Y < p.y+p.h && back >= 0 && back < p.w-1; inside && p.id != panel.Load {
				m.cursor = m.kept(m.shown.History.Newest() + 1 - int64(back))
			}
		}
	}
}

// cursorMark is a moment that the cursor can jump to.
type cursorMark struct {
	cursor int64
	text   string
}

// marks are the changes of load, the long prompts, and the beginnings and ends of incidents,
// by time.
func (m *model) marks() []cursorMark {
	h := m.shown.History
	var all []cursorMark
	for n := h.Oldest(); n <= h.Newest(); n++ {
		switch c := h.Column(n); {
		case c.Long:
			all = append(all, cursorMark{n + 1, "a long prompt was sent"})
		case c.Marked:
			all = append(all, cursorMark{n + 1, "the load was changed"})
		}
	}
	for i := range m.shown.Incidents {
		x := &m.shown.Incidents[i]
		all = append(all, cursorMark{int64(x.From/h.Width) + 1, "began: " + x.Title()})
		if !x.Open {
			all = append(all, cursorMark{int64(x.To/h.Width) + 1, "ended: " + x.Title()})
		}
	}
	all = slices.DeleteFunc(all, func(a cursorMark) bool { return h.Column(a.cursor-1) == nil })
	slices.SortStableFunc(all, func(a, b cursorMark) int { return cmp.Compare(a.cursor, b.cursor) })
	return all
}

// jumpToMark is a command that goes to the next mark in a direction, and says what it is.
func jumpToMark(direction int64) func(*model) {
	return func(m *model) {
		m.moveCursor(0)
		all := m.marks()
		if direction < 0 {
			slices.Reverse(all)
		}
		at := slices.IndexFunc(all, func(a cursorMark) bool { return direction*(a.cursor-m.cursor) > 0 })
		if at < 0 {
			m.say("there is no further mark", m.theme.Dim)
			return
		}
		m.cursor = all[at].cursor
		m.shown.Cursor = m.cursor
		var what []string
		for _, a := range all[at:] {
			if a.cursor == m.cursor {
				what = append(what, a.text)
			}
		}
		m.say(units.Clock(m.shown.CursorTime())+" "+strings.Join(what, ", "), m.theme.Note)
	}
}
