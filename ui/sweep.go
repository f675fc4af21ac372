package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/sweep"
)

// Sweeper drives a sweep through loads; *sweep.Controller is one.
type Sweeper interface {
	Start(sweep.Plan) error
	Stop()
	Resume() bool
	Status() sweep.Status
}

// toggleSweep begins a sweep, stops it, or goes on with one that was stopped.
func (m *model) toggleSweep() tea.Cmd {
	if m.sweeper == nil {
		m.say("nothing to sweep here", m.theme.dim)
		return nil
	}
	defer func() { m.live.sweep = m.sweeper.Status() }() // told at once
	switch m.sweeper.Status().State {
	case sweep.Running:
		m.sweeper.Stop()
		m.say("sweep stopped: the load stays, ↑ ↓ change it; s goes on, S begins anew", m.theme.note)
		return nil
	case sweep.Paused:
		if m.sweeper.Resume() {
			m.say("the sweep goes on", m.theme.note)
			return nil
		}
	}
	return m.startSweep()
}

// startSweep tries the loads from one stream, or from the present rate, upwards: at
// the present lengths, up to the safety cap.
func (m *model) startSweep() tea.Cmd {
	if m.sweeper == nil {
		return m.toggleSweep()
	}
	defer func() { m.live.sweep = m.sweeper.Status() }()
	if m.sweeper.Status().State == sweep.Running {
		m.sweeper.Stop()
	}
	now := m.wish()
	p := sweep.Plan{Load: now, Open: now.Rate > 0, Rungs: m.rungs, Cap: float64(m.live.frame.Load.Max), After: now}
	if p.Open {
		p.From, p.Cap = now.Rate, 0
	}
	if err := m.sweeper.Start(p); err != nil {
		m.say("no sweep: "+err.Error(), m.theme.warn)
		return nil
	}
	m.say("sweep: each level is held until it has settled and has samples enough; t shows the table, s stops", m.theme.note)
	return nil
}

// followSweep tells when a sweep ends by itself.
func (m *model) followSweep() {
	if m.sweeper == nil {
		return
	}
	before := m.live.sweep.State
	m.live.sweep = m.sweeper.Status()
	now := &m.live.sweep
	if before != sweep.Running || now.State == sweep.Running {
		return
	}
	style := m.theme.note
	if now.State == sweep.Failed {
		style = m.theme.warn
	}
	m.say(now.Line()+" · t shows the levels", style)
}

// sweepState is the progress for the title line, "" when no sweep runs.
func (t *theme) sweepState(s *sweep.Status, narrow bool) string {
	if s.State != sweep.Running {
		return ""
	}
	about := ""
	if s.Guess {
		about = "~"
	}
	text := fmt.Sprintf("⟳ sweep %d/%s%d", s.Level, about, s.Level+s.More)
	if !narrow {
		text += ", " + about + span(s.Left) + " left"
	}
	return t.accent.Render(text)
}
