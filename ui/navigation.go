package ui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"sonde/ui/panel"
)

func (m *model) nextPanel() tea.Cmd     { return m.moveFocus(1) }
func (m *model) previousPanel() tea.Cmd { return m.moveFocus(-1) }

// moveFocus goes to the next panel that is on the screen; zoomed, to any.
func (m *model) moveFocus(by int) tea.Cmd {
	for range panel.Count {
		m.focus = (m.focus + panel.ID(by) + panel.Count) % panel.Count
		if m.zoomed || m.overlay == overlayExplain || m.layout.shows(m.focus) || m.focus == panel.Load {
			break
		}
	}
	m.scrolled = 0
	m.relayout()
	return nil
}

// goToPanel goes to a panel by its number from 1. One that is not on the screen
// opens zoomed.
func (m *model) goToPanel(key string) tea.Cmd {
	number, err := strconv.Atoi(key)
	if err != nil || number < 1 || number > int(panel.Count) {
		return nil
	}
	m.focus, m.scrolled = panel.ID(number-1), 0
	if !m.layout.shows(m.focus) && m.focus != panel.Load && m.overlay == overlayNone {
		m.zoomed = true
	}
	m.relayout()
	return nil
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
	if m.playback != nil {
		m.playback.Pause(!m.playback.State().Paused)
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

func (m *model) redraw() tea.Cmd { return tea.ClearScreen }

func (m *model) suspend() tea.Cmd { return tea.Suspend }

func (m *model) quit() tea.Cmd { return tea.Quit }

func (m *model) interrupt() tea.Cmd { return tea.Interrupt }
