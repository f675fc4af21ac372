package ui

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/ui/history"
	"sonde/ui/panel"
)

// Other is another run, shown behind this one; *setup.Against is one.
type Other interface {
	// Run is nil until the run has been read; an error is why it cannot be.
	Run() (*history.Other, error)
	// Differs is why figures of this Frame answer other questions than those of the run.
	Differs(*frame.Frame) []string
}

// newHistory is an empty one. It knows when the load began as far as the one before it does.
func (m *model) newHistory(width time.Duration) *history.History {
	h := history.New(width)
	switch before := m.live.History; {
	case m.LoadBegan > 0:
		h.SetLoadBegan(m.LoadBegan)
	case before != nil:
		if began, known := before.LoadBegan(); known {
			h.SetLoadBegan(began)
		}
	}
	return h
}

// followOther takes the other run when it has been read, and says once that it is there, what
// of it is not comparable, or why there is none.
func (m *model) followOther() {
	if m.Other == nil {
		return
	}
	run, err := m.Other.Run()
	switch {
	case err != nil && !m.otherFailed:
		m.otherFailed = true
		m.say("the other run cannot be shown: "+err.Error(), m.theme.Bad)
	case run != nil && m.live.Other == nil:
		m.live.ByLevel = !run.Timed()
		m.say(besideText(run, m.live.ByLevel), m.theme.Note)
	}
	m.live.Other = run
	m.followVerdict()
	if run == nil || !m.live.Have {
		return
	}
	before := len(m.live.Unlike)
	m.live.Unlike = m.Other.Differs(m.live.Frame)
	if n := len(m.live.Unlike); n > before {
		m.say("not the same work as "+run.Name+": "+m.live.Unlike[n-1], m.theme.Warn)
	}
}

// judged is a run that is measured at the same time, and has a verdict of its own.
type judged interface{ Verdict() diagnose.Verdict }

// followVerdict says when the other run begins to be in trouble, and when that is over.
func (m *model) followVerdict() {
	j, live := m.Other.(judged)
	if !live || m.live.Other == nil {
		return
	}
	v := j.Verdict()
	before := m.otherRule
	m.otherRule = v.Rule
	trouble, well := v.Severity >= diagnose.Warn, v.Severity == diagnose.Healthy && before != ""
	if v.Rule != before && (trouble || well) {
		_, style := panel.VerdictSign(m.theme, v.Severity)
		m.say(m.live.Other.Name+": "+v.Text, style)
	}
}

func besideText(run *history.Other, byLevel bool) string {
	switch {
	case !run.Timed():
		return "dim: " + run.Name + " at the same load (a summary knows no times)"
	case byLevel:
		return "dim: " + run.Name + " at the same load (C: by time since the load began)"
	}
	return "dim: " + run.Name + " at the same time since its load began (C: at the same load)"
}

// toggleAlignment chooses how the other run is aligned.
func (m *model) toggleAlignment() {
	run := m.live.Other
	if run == nil {
		m.say("the other run is still being read", m.theme.Dim)
		return
	}
	m.live.ByLevel = !m.live.ByLevel || !run.Timed()
	m.shown.ByLevel = m.live.ByLevel // also while paused
	m.say(besideText(run, m.live.ByLevel), m.theme.Note)
}
