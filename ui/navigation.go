package ui

import (
	"sonde/ui/panel"
)

// moveFocus goes to the next panel on the screen; zoomed, to any.
func (m *model) moveFocus(by panel.ID) {
	for range panel.Count {
		m.focus = (m.focus + by + panel.Count) % panel.Count
		if m.zoomed || m.overlay == overlayExplain || m.layout.shows(m.focus) || m.focus == panel.Load {
			break
		}
	}
	m.scrolled = 0
	m.relayout()
}

// goToPanel is a command that goes to a panel. One that is not on the screen opens zoomed.
func goToPanel(id panel.ID) func(*model) {
	return func(m *model) {
		m.focus, m.scrolled = id, 0
		if !m.layout.shows(id) && id != panel.Load && m.overlay == overlayNone {
			m.zoomed = true
		}
		m.relayout()
	}
}

func (m *model) toggleZoom() {
	m.overlay, m.zoomed = overlayNone, !m.zoomed
	m.relayout()
}

// back closes what is open, the topmost first. It never quits.
func (m *model) back() {
	if m.overlay != overlayNone {
		m.overlay = overlayNone
		return
	}
	if m.cursor > 0 {
		m.cursor = 0
		return
	}
	m.zoomed = false
	m.relayout()
}

// togglePause stops a recording, or freezes the picture of a live session: a copy
// of the history is drawn while the real one goes on.
func (m *model) togglePause() {
	if m.Playback != nil {
		m.Playback.Pause(!m.Playback.State().Paused)
		m.showPlayback()
		return
	}
	m.paused = !m.paused
	m.shown = m.live
	if m.paused {
		m.shown.History = m.live.History.Clone()
	}
}
