package ui

import (
	tea "charm.land/bubbletea/v2"

	"sonde/ui/panel"
)

// moveFocus is a command that goes to the next panel on the screen; zoomed, to any.
func moveFocus(by panel.ID) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.moveFocus(by) }
}

func (m *model) moveFocus(by panel.ID) tea.Cmd {
	for range panel.Count {
		m.focus = (m.focus + by + panel.Count) % panel.Count
		if m.zoomed || m.overlay == overlayExplain || m.layout.shows(m.focus) || m.focus == panel.Load {
			break
		}
	}
	m.scrolled = 0
	m.relayout()
	return nil
}

// goToPanel is a command that goes to a panel. One that is not on the screen opens zoomed.
func goToPanel(id panel.ID) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		m.focus, m.scrolled = id, 0
		if !m.layout.shows(id) && id != panel.Load && m.overlay == overlayNone {
			m.zoomed = true
		}
		m.relayout()
		return nil
	}
}

func (m *model) toggleZoom() tea.Cmd {
	m.overlay, m.zoomed = overlayNone, !m.zoomed
	m.relayout()
	return nil
}

// back closes what is open, the topmost first. It never quits.
func (m *model) back() tea.Cmd {
	if m.overlay != overlayNone {
		m.overlay = overlayNone
		return nil
	}
	m.zoomed = false
	m.relayout()
	return nil
}

// togglePause stops a recording, or freezes the picture of a live session: a copy
// of the history is drawn while the real one goes on.
func (m *model) togglePause() tea.Cmd {
	if m.Playback != nil {
		m.Playback.Pause(!m.Playback.State().Paused)
		m.showPlayback()
		return nil
	}
	m.paused = !m.paused
	m.shown = m.live
	if m.paused {
		m.shown.History = m.live.History.Clone()
	}
	return nil
}
