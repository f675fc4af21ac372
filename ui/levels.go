package ui

import (
	"strings"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/level"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/ui/panel"
	"sonde/ui/text"
)

// Levels keeps the figures of every load that was held; *level.Book is one.
type Levels interface {
	Levels() []level.Level
	SLOs() []slo.Target
	Replacing() bool
	Replace(bool)
}

// seesLevels reports whether the levels are on the screen. They are read only then, because
// reading sorts samples.
func (m *model) seesLevels() bool {
	return m.overlay == overlayLevels || m.zoomed && (m.focus == panel.Load || m.focus == panel.TTFT && m.requested().Turns > 1)
}

// readLevels takes the rows as they are now.
func (m *model) readLevels() {
	if m.Levels == nil || !m.seesLevels() {
		return
	}
	l := panel.Levels{Rows: m.Levels.Levels(), Replacing: m.Levels.Replacing()}
	l.Result = sweep.Conclude(l.Rows, m.requested(), len(m.Levels.SLOs()) > 0)
	m.live.Levels = l
}

func (m *model) toggleLevels() {
	m.shifted = 0
	m.toggle(overlayLevels)
}

// toggleReplace chooses what revisiting a level does.
func (m *model) toggleReplace() {
	m.Levels.Replace(!m.Levels.Replacing())
	m.say(revisited(m.Levels.Replacing()), m.theme.Note)
}

func revisited(replacing bool) string {
	if replacing {
		return "revisiting a level replaces its results (a: add to them)"
	}
	return "revisiting a level adds to its results (a: replace them)"
}

// usualCurve is how many lines a curve gets where everything has to be scrolled anyway.
const usualCurve = 15

// levelsText is the table, the conclusions, the curve, and the evidence, in lines of w
// cells. The curve takes what the table leaves of h lines, but at least usualCurve.
func (m *model) levelsText(w, h int) []string {
	t, l := m.theme, &m.shown.Levels
	lines := panel.LevelTable(&m.shown, m.shifted, w)
	lines = append(append(lines, panel.Conclusions(&m.shown, w)...), "")
	lines = append(lines, m.curve.Draw(&m.shown, w, max(usualCurve, h-len(lines)))...)
	lines = append(lines, "")
	if k := l.Result.Knee; k != nil {
		for _, e := range k.Evidence() {
			lines = append(lines, text.Indented(" · ", text.Clean(e), w, t.Plain)...)
		}
	}
	return append(lines, text.Indented(" · ", revisited(l.Replacing), w, t.Dim)...)
}

// Sweeper drives a sweep through loads; *sweep.Controller is one.
type Sweeper interface {
	Start(sweep.Plan) error
	Stop()
	Resume() bool
	Status() sweep.Status
}

// toggleSweep starts a sweep, stops it, or resumes a stopped one.
func (m *model) toggleSweep() {
	defer func() { m.live.Sweep = m.Sweeper.Status() }() // shown at once
	switch m.Sweeper.Status().State {
	case sweep.Running:
		m.Sweeper.Stop()
		m.say("sweep stopped at this load: s resumes, S restarts, ↑ ↓ change the load", m.theme.Note)
		return
	case sweep.Paused:
		if m.Sweeper.Resume() {
			m.say("sweep resumed", m.theme.Note)
			return
		}
	}
	m.startSweep()
}

// startSweep sweeps from one stream, or from the present rate, up to the safety cap, at the
// present lengths.
func (m *model) startSweep() {
	defer func() { m.live.Sweep = m.Sweeper.Status() }()
	if m.Sweeper.Status().State == sweep.Running {
		m.Sweeper.Stop()
	}
	now := m.requested()
	if now.Trace != "" {
		m.say("a trace is replayed: a sweep needs a load of its own", m.theme.Note)
		return
	}
	now.Ramp = arrivals.Ramp{}
	p := sweep.Plan{Load: now, Open: now.Rate > 0, Cap: float64(m.live.Frame.Load.Max), After: now}
	if p.Open {
		p.From, p.Cap = now.Rate, 0
	}
	if err := m.Sweeper.Start(p); err != nil {
		m.say("cannot sweep: "+err.Error(), m.theme.Warn)
		return
	}
	m.say("sweep: each level is held until it settles and has enough samples; t: table, s: stop", m.theme.Note)
}

// followSweep reports a sweep that has ended by itself.
func (m *model) followSweep() {
	if m.Sweeper == nil {
		return
	}
	before := m.live.Sweep.State
	m.live.Sweep = m.Sweeper.Status()
	now := &m.live.Sweep
	if before != sweep.Running || now.State == sweep.Running {
		return
	}
	switch now.State {
	case sweep.Failed:
		m.say(now.Line()+" · t shows the levels", m.theme.Warn)
	case sweep.Done:
		m.notice = notice{m.sweepResult(now), m.theme.Bold, time.Now().Add(effectFor)}
	default:
		m.say(now.Line()+" · t shows the levels", m.theme.Note)
	}
}

// sweepResult says at which load the session goes on, and what the sweep has found.
func (m *model) sweepResult(s *sweep.Status) string {
	now := m.requested()
	goesOn := "the load goes on at " + sweep.Describe(now)
	if now.Concurrency == 0 {
		goesOn = "no load is on"
	}
	said := []string{s.Line() + ", " + goesOn + " (t: levels)"}
	if m.Levels != nil {
		r := sweep.Conclude(m.Levels.Levels(), now, len(m.Levels.SLOs()) > 0)
		said = append(said, r.Found()...)
	}
	return strings.Join(said, " · ")
}
