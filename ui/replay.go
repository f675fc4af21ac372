package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
)

// beginAnew forgets what was shown when a jump has made the Frames of a recording
// begin anew. The last picture stays until there is another.
func (m *model) beginAnew() {
	if m.playback == nil {
		return
	}
	epoch := m.playback.State().Epoch
	if epoch == m.epoch {
		return
	}
	m.epoch, m.lastSeq, m.notice = epoch, 0, notice{}
	past := m.live.history
	m.live.history = newHistory(past.width)
	m.live.history.version = past.version // panels that were drawn are not up to date
	m.live.history.version.columns++
	if m.newJudge != nil {
		m.judge = m.newJudge()
	}
	m.keepLevels(m.levels.SLOs())
}

// leadsUp tells that the Frames are those before the goal of a jump: what happened
// then is no news.
func (m *model) leadsUp() bool { return m.playback != nil && m.playback.State().Seeking }

// fatal ends the screen by the error of a live session; in a recording the
// session has ended long ago, and its last picture is what one came for.
func (m *model) fatal(err error) {
	switch {
	case err == nil:
	case m.playback == nil:
		m.err = err
	default:
		m.say("the session ended here: "+err.Error(), m.theme.bad)
	}
}

// showPlayback brings the title up to where the recording is, and says once that
// it is at its end.
func (m *model) showPlayback() {
	if m.playback == nil {
		return
	}
	before, now := m.live.play, m.playback.State()
	m.live.play, m.live.silent = &now, 0
	if !now.Ended || before != nil && before.Ended {
		return
	}
	switch {
	case now.Fault != "":
		m.say("the recording cannot be read on: "+now.Fault, m.theme.bad)
	default:
		m.say("the recording ends here: , and < go back, q quits", m.theme.note)
	}
}

// playing says what the playback does.
func (t *theme) playing(s *frame.PlaybackState, narrow bool) string {
	switch {
	case s.Ended && narrow:
		return t.warn.Render("END")
	case s.Ended:
		return t.warn.Render("end of the recording")
	case s.Paused:
		return t.warn.Render("PAUSED")
	case s.Seeking:
		return t.dim.Render("○ reading")
	case s.Speed != 1:
		return t.good.Render(signGood + " replay " + strconv.FormatFloat(s.Speed, 'g', 3, 64) + "×")
	}
	return t.good.Render(signGood + " replay")
}

// lineOrder is which words the key line shows first.
func (m *model) lineOrder() []string {
	switch {
	case m.playback != nil:
		return replayOrder
	case m.overlay != overlayNone:
		return overlayOrder
	}
	return lineOrder
}

// moved does something with the playback, if there is one.
func (m *model) moved(f func(frame.Playback)) tea.Cmd {
	if m.playback == nil {
		m.say("only a recording can be moved in: sonde replay FILE", m.theme.dim)
		return nil
	}
	f(m.playback)
	m.pull(time.Now())
	return nil
}

func (m *model) jump(by time.Duration) tea.Cmd {
	return m.moved(func(p frame.Playback) { p.Jump(by) })
}

// beyond is longer than any recording.
const beyond = 100 * 365 * 24 * time.Hour

func (m *model) littleBack() tea.Cmd  { return m.jump(-10 * time.Second) }
func (m *model) littleOn() tea.Cmd    { return m.jump(10 * time.Second) }
func (m *model) minuteBack() tea.Cmd  { return m.jump(-time.Minute) }
func (m *model) minuteOn() tea.Cmd    { return m.jump(time.Minute) }
func (m *model) toBeginning() tea.Cmd { return m.jump(-beyond) }
func (m *model) toEnd() tea.Cmd       { return m.jump(beyond) }

func (m *model) slower() tea.Cmd {
	return m.moved(func(p frame.Playback) { p.SetSpeed(p.State().Speed / 2) })
}

func (m *model) faster() tea.Cmd {
	return m.moved(func(p frame.Playback) { p.SetSpeed(p.State().Speed * 2) })
}
