package ui

import (
	"fmt"

	"sonde/probe/frame"
	"sonde/probe/sweep"
	"sonde/ui/panel"
	"sonde/ui/text"
)

// overlay is a text shown in place of the panels.
type overlay int

const (
	overlayNone overlay = iota
	overlayHelp
	overlayExplain
	overlayVerdicts
	overlayLevels
	overlayRehearsal
)

// toggle opens an overlay, or closes it.
func (m *model) toggle(o overlay) {
	if m.overlay == o {
		o = overlayNone
	}
	m.overlay, m.scrolled = o, 0
}

// scroll moves the text of an overlay and reports whether the key was one for that: while
// an overlay is open these keys do not change the load.
func (m *model) scroll(key string) bool {
	if m.overlay == overlayNone {
		return false
	}
	page := max(1, m.layout.body.h-3)
	if m.overlay == overlayLevels && m.shift(key) || m.choose(key) {
		return true
	}
	by, ok := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page}[key]
	m.scrolled += by
	return ok
}

// shift moves the columns of the table of levels.
func (m *model) shift(key string) bool {
	by, ok := map[string]int{"left": -1, "right": 1}[key]
	m.shifted = max(0, min(m.shifted+by, panel.LevelColumns-2))
	return ok
}

// drawOverlay draws the visible part of the overlay, and says in the lower border which
// part that is.
func (m *model) drawOverlay() []string {
	b := m.layout.body
	room := b.h - 2
	hd, lines := m.overlayText(b.w-2, room)
	m.scrolled = max(0, min(m.scrolled, len(lines)-room))
	last := min(len(lines), m.scrolled+room)
	if len(lines) > room {
		hd.Foot = []text.Figure{text.Fig(fmt.Sprintf("↑↓ lines %d to %d of %d", m.scrolled+1, last, len(lines)), m.theme.Dim)}
	}
	return text.Box(m.theme, hd, lines[m.scrolled:last], b.w, b.h, true)
}

func (m *model) overlayText(w, h int) (text.Heading, []string) {
	t, hd := m.theme, text.Heading{}
	switch m.overlay {
	case overlayHelp:
		lines := help(t, m.offered(), m.offeredWords(), w)
		switch {
		case m.shown.Frame.Load.Watch:
			lines = append([]string{t.Note.Render(" " + frame.Watching), ""}, lines...)
		case m.Rehearsal != nil:
			lines = append(append(tourLines(t, w), ""), lines...)
		}
		return text.Heading{Name: "keys"}, lines
	case overlayLevels:
		hd = text.Heading{Name: "levels", Figures: []text.Figure{text.Fig("←→ columns", t.Dim)}}
		if m.shown.Sweep.State != sweep.Idle {
			hd.Figures = append(hd.Figures, text.Fig(m.shown.Sweep.Line(), t.Plain))
		}
		return hd, m.levelsText(w, h)
	case overlayRehearsal:
		hd = text.Heading{Name: "embedded engine", Figures: []text.Figure{text.Fig("↑↓ choose, enter switches", t.Dim)}}
		return hd, m.rehearsalText(w, h)
	case overlayVerdicts:
		return text.Heading{Name: "verdicts"}, panel.AllVerdicts(&m.shown, w)
	}
	e := m.panels[m.focus].Explain(&m.shown)
	return text.Heading{Name: e.Title}, e.Lines(&m.shown, w)
}
