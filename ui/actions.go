package ui

import (
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/units"
	"sonde/ui/panel"
	"sonde/ui/still"
	"sonde/ui/text"
)

// requested is the load as requested, including changes that no Frame shows yet.
func (m *model) requested() frame.Load {
	if m.Controls == nil {
		return m.shown.Frame.Load.Requested
	}
	return m.Controls.Load()
}

// fixed reports whether a trace sets what a command would change, and says so on the screen.
func (m *model) fixed() bool {
	if m.Controls.Load().Trace == "" {
		return false
	}
	m.say("the trace sets arrivals and lengths: --speed and --scale change them", m.theme.Note)
	return true
}

// change changes the requested load. Nothing waits for it.
func (m *model) change(f func(*frame.Load)) {
	var before, wanted frame.Load
	m.Controls.ChangeLoad(func(l *frame.Load) {
		before = *l
		f(l)
		wanted = *l
	})
	m.remember(before)
	m.confirm(wanted)
}

// changePrompts is change for what is fixed when prompts come from a file. It reports whether
// the change was allowed; if not, the screen says why.
func (m *model) changePrompts(f func(*frame.Load)) bool {
	if m.fixed() {
		return false
	}
	if m.Controls.Load().InputTokens == 0 {
		m.say("the prompts come from a file and are sent unchanged", m.theme.Note)
		return false
	}
	m.change(f)
	return true
}

// changeSchedule is change for what only an open loop has.
func (m *model) changeSchedule(what string, f func(*frame.Load)) {
	if m.Controls.Load().Rate <= 0 {
		m.say("a closed loop has no "+what+": type :rate 4 to send on a schedule", m.theme.Note)
		return
	}
	if !m.fixed() {
		m.change(f)
	}
}

// confirm reports the effect of a change that the screen does not show: the cap limits it,
// the display is paused, or another panel fills the screen.
func (m *model) confirm(wanted frame.Load) {
	switch most := m.live.Frame.Load.Max; {
	case wanted.Rate <= 0 && most > 0 && wanted.Concurrency > most:
		m.say("cap "+units.Whole(float64(most))+" reached: --max-concurrency raises it", m.theme.Note)
	case m.paused || m.zoomed || m.overlay != overlayNone:
		m.say("load now: "+loadText(m.Controls.Load()), m.theme.Note)
	}
}

// loadText is a load in words.
func loadText(l frame.Load) string {
	lengths := ", prompt " + panel.PromptLength(l) + ", output " + panel.OutputLength(l) + " tok"
	if l.Prefix != "" && l.InputTokens > 0 {
		lengths += ", " + l.Prefix + " prefixes"
	}
	limit := " ≤ " + units.Whole(float64(l.Concurrency))
	if l.Concurrency == 0 {
		limit = ", stopped"
	}
	switch {
	case l.Trace != "" && l.Concurrency > 0:
		return "trace " + text.Clean(l.Trace) + limit + " streams"
	case l.Trace != "":
		return "trace " + text.Clean(l.Trace) + limit
	case l.Rate > 0:
		return rateText(l) + " req/s" + limit + ", " + l.Arrivals.String() + lengths
	}
	return "concurrency " + units.Whole(float64(l.Concurrency)) + lengths
}

// rateText is the rate of an open loop, with the ramp that leads to it.
func rateText(l frame.Load) string {
	if l.Ramp.Over == 0 {
		return units.Sig2(l.Rate)
	}
	return units.Sig2(l.Ramp.From) + " → " + units.Sig2(l.Rate)
}

// amount is a command that changes the concurrency, or in an open loop the rate.
func amount(closed func(int) int, open func(float64) float64) func(*model) {
	return func(m *model) {
		if m.Controls.Load().Concurrency > 0 && m.fixed() {
			return
		}
		m.change(func(l *frame.Load) {
			switch {
			case l.Rate <= 0:
				l.Concurrency = closed(l.Concurrency)
			case l.Concurrency == 0: // stopped: start again under the previous cap
				l.Concurrency = max(1, m.restoreCap)
			default:
				l.Rate, l.Ramp = open(m.rate(*l)), arrivals.Ramp{}
			}
		})
	}
}

// promptLength and outputLength are commands that move a length one step.
func promptLength(step func(int) int) func(*model) {
	return func(m *model) {
		m.changePrompts(func(l *frame.Load) { l.InputTokens = step(l.InputTokens) })
	}
}

func outputLength(step func(int) int) func(*model) {
	return func(m *model) {
		if !m.fixed() {
			m.change(func(l *frame.Load) { l.OutputTokens = step(l.OutputTokens) })
		}
	}
}

func (m *model) nextPrefix() {
	m.changePrompts(func(l *frame.Load) { l.Prefix = frame.NextPrefix(l.Prefix) })
}

// rate is how many requests per second are due now, in digits that are short to read.
func (m *model) rate(l frame.Load) float64 {
	if now := &m.live.Frame.Load; now.Requested == l && now.Moving() {
		return tidy(now.RateNow)
	}
	return l.Rate
}

// rampOver is how long a ramp from the keyboard takes.
const rampOver = time.Minute

// rampUp doubles the rate in the course of a minute.
func (m *model) rampUp() {
	m.changeSchedule("rate", func(l *frame.Load) {
		from := m.rate(*l)
		l.Rate, l.Ramp = 2*from, arrivals.Ramp{From: from, Over: rampOver}
	})
}

// burstiness are the arrivals that the keyboard steps through.
var burstiness = []arrivals.Process{arrivals.Poisson, arrivals.Constant, {CV: 2}, {CV: 4}}

func (m *model) nextArrivals() {
	m.changeSchedule("arrivals", func(l *frame.Load) {
		l.Arrivals = burstiness[(slices.Index(burstiness, l.Arrivals)+1)%len(burstiness)]
	})
}

func (m *model) stopLoad() {
	m.change(func(l *frame.Load) {
		if l.Concurrency > 0 {
			m.restoreCap = l.Concurrency
		}
		l.Concurrency = 0
	})
	m.say("stopped: running requests will finish (x cancels them)", m.theme.Note)
}

// controls is a command that does something with the controls and confirms it.
func controls(message string, f func(frame.Controls)) func(*model) {
	return func(m *model) {
		f(m.Controls)
		m.say(message, m.theme.Note)
	}
}

func (m *model) abort() {
	before := m.Controls.Load()
	if before.Concurrency > 0 {
		m.restoreCap = before.Concurrency
	}
	m.Controls.Abort()
	m.remember(before)
	m.say("aborted: all requests in flight are cancelled", m.theme.Note)
}

// liveWindows are the lengths of the live window, in seconds.
var liveWindows = [...]int{10, 30, 60}

func (m *model) nextWindow() {
	now := m.window
	if now == 0 { // not chosen yet: start from what is shown
		now = int(m.live.Frame.Client.Window.Seconds())
	}
	next := liveWindows[0]
	for i, s := range liveWindows {
		if s == now && i+1 < len(liveWindows) {
			next = liveWindows[i+1]
		}
	}
	m.chooseWindow(next)
}

func (m *model) chooseWindow(seconds int) {
	m.window = seconds
	m.Controls.SetWindow(seconds)
	m.say("live window "+units.Whole(float64(seconds))+" s", m.theme.Note)
}

// save runs beside the screen: a slow disk must not stop it.
func (m *model) save() {
	m.keep()
	f, view, light, recording := m.Save, m.content, m.theme.Light, m.recorder.Recording()
	m.say("saving …", m.theme.Dim)
	m.then = func() (msg tea.Msg) {
		defer guard.Catch("saving", func(err error) { msg = savedMsg{err: err} })
		path, err := f(still.SVG(view, light), recording.String())
		return savedMsg{path, err}
	}
}

// keep records what is shown, if it can be saved.
func (m *model) keep() {
	if m.Save != nil && m.content != "" {
		m.recorder.Add(time.Now(), m.layout.w, m.layout.h, m.content)
	}
}

func (m *model) saved(s savedMsg) {
	if s.err != nil {
		m.say("not saved: "+s.err.Error(), m.theme.Bad)
		return
	}
	m.say("saved "+s.path, m.theme.Good)
}

// Token lengths move along 16, 24, 32, 48, 64, 96, 128, …: two steps double.
var lengths = func() (all []int) {
	for base := 16; base < longest; base *= 2 {
		all = append(all, base, base+base/2)
	}
	return append(all, longest)
}()

const longest = 1 << 20

func stepUp(n int) int {
	at, found := slices.BinarySearch(lengths, n)
	if found {
		at++
	}
	return lengths[min(at, len(lengths)-1)]
}

// stepDown ends at 1: a response of one token is all prefill.
func stepDown(n int) int {
	at, _ := slices.BinarySearch(lengths, n)
	if at == 0 {
		return 1
	}
	return lengths[at-1]
}

// Rates move by about a tenth, to numbers that are short to read.
func rateUp(r float64) float64   { return r + rateStep(r) }
func rateDown(r float64) float64 { return math.Max(0.1, tidy(r-rateStep(r-1e-9))) }

// rateStep is 0.1 below 2, 1 below 20, 10 below 200 …
func rateStep(r float64) float64 {
	step := 0.1
	for r >= 20*step {
		step *= 10
	}
	return step
}

// tidy removes what binary fractions leave behind.
func tidy(r float64) float64 { return math.Round(r*10) / 10 }
