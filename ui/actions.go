package ui

import (
	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/ui/still"
)

// wish is the load as the operator wants it, changes included that no Frame shows.
func (m *model) wish() frame.Load {
	if m.controls == nil {
		return m.shown.frame.Load.Asked
	}
	return m.controls.Load()
}

// change changes the requested load. Nothing waits for it.
func (m *model) change(f func(*frame.Load)) tea.Cmd {
	if m.controls == nil {
		m.say("a recording: its load cannot be changed", m.theme.dim)
		return nil
	}
	var requested frame.Load
	m.controls.ChangeLoad(func(l *frame.Load) {
		f(l)
		requested = *l
	})
	m.tellLoad(requested)
	return nil
}

// tellLoad says what became of a wish where the screen would not show it: the cap
// was in the way, the picture is frozen, or another panel fills it.
func (m *model) tellLoad(wished frame.Load) {
	switch most := m.live.frame.Load.Max; {
	case wished.Rate <= 0 && most > 0 && wished.Concurrency > most:
		m.say("cap "+group(float64(most))+" reached: --max-concurrency raises it", m.theme.note)
	case m.paused || m.zoomed || m.overlay != overlayNone:
		m.say("load now: "+loadText(m.controls.Load()), m.theme.note)
	}
}

// loadText is a load in words.
func loadText(l frame.Load) string {
	lengths := ", prompt " + promptLength(l) + ", output " + group(float64(l.OutputTokens)) + " tok"
	if l.Prefix != "" && !given(l) {
		lengths += ", " + l.Prefix + " prefixes"
	}
	if l.Rate > 0 {
		return sig2(l.Rate) + " req/s ≤ " + group(float64(l.Concurrency)) + lengths
	}
	return "concurrency " + group(float64(l.Concurrency)) + lengths
}

// amount changes the concurrency, or in an open loop the rate.
func (m *model) amount(closed func(int) int, open func(float64) float64) tea.Cmd {
	return m.change(func(l *frame.Load) {
		if l.Rate <= 0 {
			l.Concurrency = closed(l.Concurrency)
			return
		}
		if l.Concurrency == 0 { // stopped: start again under the cap of before
			l.Concurrency = max(1, m.restoreCap)
			return
		}
		l.Rate = open(l.Rate)
	})
}

func (m *model) moreLoad() tea.Cmd {
	return m.amount(func(n int) int { return n + 1 }, rateUp)
}

func (m *model) lessLoad() tea.Cmd {
	return m.amount(func(n int) int { return max(0, n-1) }, rateDown)
}

func (m *model) doubleLoad() tea.Cmd {
	return m.amount(func(n int) int { return max(1, 2*n) }, func(r float64) float64 { return 2 * r })
}

func (m *model) halveLoad() tea.Cmd {
	return m.amount(func(n int) int { return n / 2 }, func(r float64) float64 { return r / 2 })
}

func (m *model) shorterPrompt() tea.Cmd {
	return m.changePrompts(func(l *frame.Load) { l.InputTokens = stepDown(l.InputTokens) })
}

func (m *model) longerPrompt() tea.Cmd {
	return m.changePrompts(func(l *frame.Load) { l.InputTokens = stepUp(l.InputTokens) })
}

func (m *model) shorterOutput() tea.Cmd {
	return m.change(func(l *frame.Load) { l.OutputTokens = stepDown(l.OutputTokens) })
}

func (m *model) longerOutput() tea.Cmd {
	return m.change(func(l *frame.Load) { l.OutputTokens = stepUp(l.OutputTokens) })
}

func (m *model) nextPrefix() tea.Cmd {
	return m.changePrompts(func(l *frame.Load) {
		l.Prefix = frame.NextPrefix(l.Prefix)
	})
}

func (m *model) stopLoad() tea.Cmd {
	cmd := m.change(func(l *frame.Load) {
		if l.Concurrency > 0 {
			m.restoreCap = l.Concurrency
		}
		l.Concurrency = 0
	})
	if m.controls != nil {
		m.say("stopped: running requests end by themselves (x cancels them)", m.theme.note)
	}
	return cmd
}

// control does something with the controls, if there are any.
func (m *model) control(said string, f func(frame.Controls)) tea.Cmd {
	if m.controls == nil {
		m.say("a recording: nothing to control", m.theme.dim)
		return nil
	}
	f(m.controls)
	m.say(said, m.theme.note)
	return nil
}

func (m *model) abort() tea.Cmd {
	return m.control("aborted: everything in flight is cancelled", func(c frame.Controls) {
		if n := c.Load().Concurrency; n > 0 {
			m.restoreCap = n
		}
		c.Abort()
	})
}

func (m *model) fireLong() tea.Cmd {
	return m.control("a long prompt is on its way: watch the gaps of the others", frame.Controls.FireLong)
}

func (m *model) resetStatistics() tea.Cmd {
	return m.control("statistics reset; the charts keep the past", frame.Controls.ResetStatistics)
}

// liveWindows are the lengths of the live window, in seconds.
var liveWindows = [...]int{10, 30, 60}

func (m *model) nextWindow() tea.Cmd {
	now := m.window
	if now == 0 { // not chosen here yet: start from what is shown
		now = int(m.live.frame.Client.Window.Seconds())
	}
	next := liveWindows[0]
	for i, s := range liveWindows {
		if s == now && i+1 < len(liveWindows) {
			next = liveWindows[i+1]
		}
	}
	m.window = next
	return m.control("live window "+group(float64(next))+" s", func(c frame.Controls) { c.SetWindow(next) })
}

// save runs beside the screen: a slow disk must not stop it.
func (m *model) save() tea.Cmd {
	if m.saveFile == nil {
		m.say("nothing to save here", m.theme.dim)
		return nil
	}
	f, view := m.saveFile, m.content
	m.say("saving …", m.theme.dim)
	return func() (msg tea.Msg) {
		defer guard.Catch("saving", func(err error) { msg = savedMsg{err: err} })
		path, err := f(still.SVG(view))
		return savedMsg{path, err}
	}
}

func (m *model) saved(s savedMsg) {
	if s.err != nil {
		m.say("not saved: "+s.err.Error(), m.theme.bad)
		return
	}
	m.say("saved "+s.path, m.theme.good)
}
