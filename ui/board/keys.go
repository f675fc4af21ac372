package board

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/ui"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// command is what some keys do.
type command struct {
	keys  []string // as Bubble Tea names them
	shown string   // the keys in the help
	text  string   // the line of the help
	line  string   // the word in the key line, "" if it is only in the help
	do    func(*model) tea.Cmd
}

// commands is the key map, in the order of the help.
var commands = []command{
	{[]string{"up", "k"}, "↑", "the target above; in a text: up", "", moves(-1)},
	{[]string{"down", "j"}, "↓", "the target below; in a text: down", "", moves(1)},
	{[]string{"pgup"}, "pgup", "a page up", "", moves(-page)},
	{[]string{"pgdown"}, "pgdn", "a page down", "", moves(page)},
	{[]string{"home"}, "home", "the first target, which is the worst", "", moves(-beyond)},
	{[]string{"end"}, "end", "the last target", "", moves(beyond)},
	{[]string{"enter", "z"}, "enter", "all that is known of the target", "details", opens(viewDetails)},
	{[]string{"esc"}, "esc", "back to all targets", "back", opens(viewRows)},
	{[]string{"?", "h"}, "?", "this help", "help", opens(viewHelp)},
	{[]string{"ctrl+l"}, "ctrl+l", "redraw the screen", "", returns(tea.ClearScreen)},
	{[]string{"ctrl+z"}, "ctrl+z", "suspend: no probes until it goes on", "", returns(tea.Suspend)},
	{[]string{"q"}, "q", "quit", "quit", returns(tea.Quit)},
	{[]string{"ctrl+c"}, "ctrl+c", "force quit", "", returns(tea.Interrupt)},
}

const (
	page   = 10
	beyond = 1 << 20
)

func returns(cmd tea.Cmd) func(*model) tea.Cmd { return func(*model) tea.Cmd { return cmd } }

func moves(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if m.view == viewRows {
			m.choose(by)
		} else {
			m.scrolled += by // draw keeps it within the text
		}
		return nil
	}
}

// opens opens a view, or closes it.
func opens(v view) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		to := v
		if m.view == v {
			to = viewRows
		}
		m.view, m.scrolled = to, 0
		return nil
	}
}

// press does what a key does.
func (m *model) press(k tea.Key) tea.Cmd {
	for _, name := range ui.KeyNames(k) {
		for _, c := range commands {
			if slices.Contains(c.keys, name) {
				return c.do(m)
			}
		}
	}
	return nil
}

// keyLine shows the keys that matter most.
func (m *model) keyLine() string {
	parts := []string{" " + m.theme.Accent.Render("↑↓") + " " + m.theme.Dim.Render("target")}
	for _, c := range commands {
		if c.line != "" && (c.line != "back" || m.view != viewRows) {
			parts = append(parts, m.theme.Accent.Render(c.shown)+" "+m.theme.Dim.Render(c.line))
		}
	}
	return text.Pad(strings.Join(parts, "  "), m.w)
}

// help lists every key, then what the signs mean.
func (m *model) help(w int) []string {
	const keysWidth = 8
	t := m.theme
	var lines []string
	for _, c := range commands {
		lines = append(lines, text.Indented(" "+t.Accent.Render(text.Pad(c.shown, keysWidth))+" ", c.text, w, t.Plain)...)
	}
	lines = append(lines, "")
	for _, s := range []struct{ sign, words string }{
		{t.Good.Render(theme.SignGood), "ok: it answers as it usually does"},
		{t.Warn.Render(theme.SignWarn), "slow: twice as slow as in the last hour, or beyond an SLO; failing: some probes fail"},
		{t.Bad.Render(theme.SignBad), "down: three probes in a row have failed"},
		{t.Note.Render(theme.SignNote), "the server is loading its model"},
		{t.Dim.Render("·"), "no probe has ended yet"},
	} {
		lead := " " + s.sign + strings.Repeat(" ", keysWidth-ansi.StringWidth(s.sign)) + " "
		lines = append(lines, text.Indented(lead, s.words, w, t.Plain)...)
	}
	return lines
}
