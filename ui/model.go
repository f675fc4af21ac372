// Package ui is the live screen: one Bubble Tea model that reads Frames and draws them.
//
// The screen measures nothing. Four times a second it pulls the Frames that are new,
// folds them into a history of columns, and redraws the panels whose data changed. Keys
// become commands to frame.Controls, which return at once.
//
//	run.go, replies.go    start, end, the terminal
//	model.go              the router: key, tick, size → one method each
//	keys.go, actions.go   the key map and what the keys do
//	layout.go, compose.go which panel lies where at which size
//	overlay.go, help.go   texts over the panels
//
// Below it: panel draws the panels, history is what the charts remember, text lays out
// lines and tables, theme has the styles, chart draws the charts, still saves a picture,
// cast the last minutes.
package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/ui/cast"
	"sonde/ui/panel"
	"sonde/ui/theme"
)

// refreshEvery is how often the screen pulls Frames: numbers change four times a
// second.
const refreshEvery = 250 * time.Millisecond

// ColumnWidth is the length of a chart's column.
const ColumnWidth = time.Second

// model is the root of the screen. It routes keys, ticks and sizes to one method
// each and composes the picture; panels draw.
type model struct {
	Options

	theme    *theme.Palette
	commands []command
	panels   [panel.Count]*panel.Card

	lastSeq   uint64
	lastFrame time.Time  // when the newest Frame was pulled
	live      panel.View // as it is
	shown     panel.View // as it is drawn: the live one, or a frozen one
	paused    bool

	layout  layout
	focus   panel.ID
	zoomed  bool
	cursor  int64 // see cursor.go
	overlay overlay
	notice  notice
	line    line

	scrolled int // lines of the overlay that lie above its first visible one
	chosen   int // number of a switch
	shifted  int // columns of the table of levels that lie left of its first visible one
	curve    panel.Curve

	otherFailed bool          // the other run cannot be read, which was said
	otherRule   diagnose.Rule // of its verdict, if it is measured too

	window     int          // seconds, as last requested; 0: not yet
	restoreCap int          // open loop: the cap before it was stopped
	turn       int          // which panel of a band may show new data now
	earlier    []frame.Load // before each change of the load that can be undone, oldest first
	rounds     rounds
	generation int // of the chain of ticks; ticks of older chains are dropped
	epoch      int // of the playback, whose Frames are shown
	content    string
	recorder   cast.Recorder // of what was shown, for saving
	then       tea.Cmd       // what Bubble Tea is to do after a command
	replied    bool          // the terminal has replied to the last question of the start
	err        error         // ends the program
}

// notice is a line about something that just happened.
type notice struct {
	text  string
	style lipgloss.Style
	until time.Time
}

// The time a notice stays.
const (
	noticeFor = 6 * time.Second
	effectFor = 15 * time.Second
)

// turns is how many ticks it takes until every panel of a band has shown its new data: one
// second. Neighbours take turns because the renderer rewrites a line from its first to its
// last change: two panels that change at once cost everything between them, several times
// the bytes of both.
const turns = 4

func newModel(o Options, t *theme.Palette) *model {
	m := &model{
		Options: o, theme: t, commands: commands(), panels: panel.All(),
		focus: panel.TTFT, lastFrame: time.Now(),
	}
	if m.Levels == nil && m.Judge != nil {
		m.Levels = m.Judge.Book()
	}
	m.live = panel.View{Theme: t, Frame: &frame.Frame{}, SLOs: o.SLOs}
	m.live.History = m.newHistory(ColumnWidth)
	m.shown = m.live
	return m
}

type (
	// tickMsg asks for new Frames.
	tickMsg struct{ generation int }
	// savedMsg is how saving went.
	savedMsg struct {
		path string
		err  error
	}
)

// Init starts the chain of ticks with one at once.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg { return tickMsg{m.generation} }
}

// Update is a router: every message has one method.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = m
	defer guard.Catch("live screen", func(err error) { m.err, cmd = err, tea.Quit })
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		cmd = m.press(msg)
		m.readLevels() // they may have come into view
	case tea.MouseClickMsg:
		m.pointTo(msg.Mouse())
	case tea.MouseMotionMsg:
		m.pointTo(msg.Mouse())
	case tea.PasteMsg:
		m.paste(msg)
	case tickMsg:
		cmd = m.tick(msg)
		defer m.keep()
	case tea.ResumeMsg:
		cmd = m.restart()
	case savedMsg:
		m.saved(msg)
	case tea.KeyboardEnhancementsMsg:
		m.replied = true // see takeReplies
		return m, nil
	default:
		return m, nil
	}
	if m.err != nil {
		return m, tea.Quit
	}
	m.draw()
	return m, cmd
}

// View returns what Update has drawn. All views are made here, so that none leaves the
// alternate screen by mistake.
func (m *model) View() tea.View {
	v := tea.NewView(m.content)
	v.AltScreen = true
	if m.cursor > 0 { // else the terminal keeps the mouse, for copying
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = m.lineCursor()
	v.KeyboardEnhancements.ReportAlternateKeys = true // see KeyNames
	return v
}

func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	if m.line.open && msg.String() != "ctrl+c" {
		m.typeKey(msg)
	} else if m.scroll(msg.String()) || m.point(msg.String()) {
		return nil
	} else if c := m.command(msg.Key()); c != nil {
		m.do(c)
	}
	cmd := m.then
	m.then = nil
	return cmd
}

// do runs a command, or says why it cannot.
func (m *model) do(c *command) {
	if why := m.lacks(c.needs); why != "" {
		m.say(why, m.theme.Dim)
		return
	}
	c.do(m)
}

// command is the command of a key; nil if it has none.
func (m *model) command(k tea.Key) *command {
	for _, name := range KeyNames(k) {
		if c := find(m.commands, name); c != nil {
			return c
		}
	}
	return nil
}

// tick pulls Frames and asks for the next tick. There is one chain of ticks; one
// of an older chain ends here.
func (m *model) tick(msg tickMsg) tea.Cmd {
	if msg.generation != m.generation {
		return nil
	}
	m.pull(time.Now())
	m.turn = (m.turn + 1) % turns
	return m.nextTick()
}

func (m *model) nextTick() tea.Cmd {
	generation := m.generation
	return tea.Tick(refreshEvery, func(time.Time) tea.Msg { return tickMsg{generation} })
}

// restart begins a new chain of ticks after the process was stopped.
func (m *model) restart() tea.Cmd {
	m.generation++
	return tea.Batch(tea.ClearScreen, m.nextTick())
}

// pull folds new Frames. It continues while the picture is paused.
func (m *model) pull(now time.Time) {
	m.beginAnew()
	fresh := m.Frames.Since(m.lastSeq)
	for _, f := range fresh {
		m.fold(f, now)
	}
	if n := len(fresh); n > 0 {
		m.live.Frame, m.live.Have, m.lastFrame = fresh[n-1], true, now
		if m.Judge != nil {
			m.live.Verdicts, m.live.Checked, m.live.Incidents = m.Judge.Verdicts(), m.Judge.Checked(), m.Judge.Incidents()
		}
	}
	m.followSweep()
	m.followOther()
	m.readLevels()
	m.live.Silent = now.Sub(m.lastFrame)
	m.showPlayback()
	if now.After(m.notice.until) {
		m.notice = notice{}
	}
}

func (m *model) fold(f *frame.Frame, now time.Time) {
	m.lastSeq = f.Seq
	m.live.History.Fold(f)
	if m.Judge != nil {
		m.Judge.Add(f)
	}
	if !m.seeking() {
		m.announce(f.Events, now)
	}
	m.fatal(f.Err)
}

// announce shows notes, and what a long prompt did.
func (m *model) announce(events []frame.Event, now time.Time) {
	for _, e := range events {
		switch {
		case e.Text == "":
		case e.Kind == frame.EventEffect:
			m.notice = notice{e.Text, m.theme.Bold, now.Add(effectFor)}
		case e.Kind == frame.EventNote, e.Kind == frame.EventLong:
			m.notice = notice{e.Text, m.theme.Note, now.Add(noticeFor)}
		}
	}
}

func (m *model) say(text string, s lipgloss.Style) {
	m.notice = notice{text, s, time.Now().Add(noticeFor)}
}

func (m *model) resize(w, h int) {
	m.layout = layoutFor(w, h, m.zoomed, m.focus)
}

// relayout is resize without a new size.
func (m *model) relayout() { m.resize(m.layout.w, m.layout.h) }
