package ui

import (
	"slices"
	"time"

	"sonde/probe/frame"
)

// beginAnew forgets what was shown after a jump has made the Frames of a recording start
// over. The last picture stays until there is another.
func (m *model) beginAnew() {
	if m.Playback == nil {
		return
	}
	epoch := m.Playback.State().Epoch
	if epoch == m.epoch {
		return
	}
	m.epoch, m.lastSeq, m.notice = epoch, 0, notice{}
	m.live.History = m.newHistory(m.live.History.Width)
	if m.NewJudge != nil {
		m.Judge = m.NewJudge()
		m.Levels = m.Judge.Book()
	}
}

// seeking reports whether the Frames are those before the target of a jump, whose events are
// not news.
func (m *model) seeking() bool { return m.Playback != nil && m.Playback.State().Seeking }

// fatal ends the screen with the error of a live session. In a recording the session ended
// long ago, and its last picture stays.
func (m *model) fatal(err error) {
	switch {
	case err == nil:
	case m.Playback == nil:
		m.err = err
	default:
		m.say("the session ended here: "+err.Error(), m.theme.Bad)
	}
}

// showPlayback brings the title up to where the recording is, and says once that
// it is at its end.
func (m *model) showPlayback() {
	if m.Playback == nil {
		return
	}
	before, now := m.live.Playback, m.Playback.State()
	m.live.Playback, m.live.Silent = &now, 0
	if !now.Ended || before != nil && before.Ended {
		return
	}
	switch {
	case now.Err != nil:
		m.say("cannot read the rest of the recording: "+now.Err.Error(), m.theme.Bad)
	default:
		m.say("end of recording: , and < seek back, q quits", m.theme.Note)
	}
}

// lineOrder is which words the key line shows first.
func (m *model) lineOrder() []string {
	order := lineOrder
	switch {
	case m.cursor > 0 && m.overlay == overlayNone:
		order = cursorOrder
	case m.Playback != nil:
		order = replayOrder
	case m.overlay != overlayNone:
		order = overlayOrder
	}
	if m.live.Other == nil || !m.live.Other.Timed() { // it can be aligned by load only
		order = slices.DeleteFunc(slices.Clone(order), func(word string) bool { return word == "align" })
	}
	return order
}

// seek does something with the playback.
func (m *model) seek(f func(frame.Playback)) {
	f(m.Playback)
	m.pull(time.Now())
}

// jumps is a command that seeks by that much.
func jumps(by time.Duration) func(*model) {
	return func(m *model) { m.seek(func(p frame.Playback) { p.Jump(by) }) }
}

// speeds is a command that plays faster or slower.
func speeds(factor float64) func(*model) {
	return func(m *model) { m.seek(func(p frame.Playback) { p.SetSpeed(p.State().Speed * factor) }) }
}

// beyond is longer than any recording.
const beyond = 100 * 365 * 24 * time.Hour
