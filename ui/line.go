package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"sonde/ui/text"
)

// line is the command line, which lies over the keys while it is open.
type line struct {
	open  bool
	input textinput.Model
	past  []string // what was entered, oldest first
	at    int      // which of past is shown; len(past): a new line
}

// mostTyped bounds a command, in characters.
const mostTyped = 200

func (m *model) openLine() {
	in := textinput.New()
	in.Prompt = " :"
	in.CharLimit = mostTyped
	in.ShowSuggestions = true
	in.SetVirtualCursor(false)
	in.KeyMap.Paste = key.Binding{} // terminals paste by themselves
	in.KeyMap.NextSuggestion, in.KeyMap.PrevSuggestion = key.Binding{}, key.Binding{}
	style := in.Styles()
	style.Focused.Prompt, style.Focused.Text, style.Focused.Suggestion = m.theme.Accent, m.theme.Plain, m.theme.Dim
	in.SetStyles(style)
	in.Focus()
	m.line.open, m.line.input, m.line.at = true, in, len(m.line.past)
	m.notice = notice{}
}

// typeKey is a key while the command line is open.
func (m *model) typeKey(msg tea.KeyPressMsg) {
	switch k := msg.String(); {
	case k == "esc", k == "backspace" && m.line.input.Value() == "":
		m.line.open, m.notice = false, notice{}
	case k == "enter":
		m.enter(strings.TrimSpace(m.line.input.Value()))
	case k == "up":
		m.recall(-1)
	case k == "down":
		m.recall(1)
	default:
		m.edit(msg)
	}
}

// paste puts text from the terminal's clipboard into the open line.
func (m *model) paste(msg tea.PasteMsg) {
	if m.line.open {
		m.edit(msg)
	}
}

// edit has the input carry out a message, and finds completions of what is there then.
func (m *model) edit(msg tea.Msg) {
	in := &m.line.input
	*in, _ = in.Update(msg)
	in.SetSuggestions(completions(in.Value()))
}

// recall shows an earlier command, or a later one.
func (m *model) recall(by int) {
	l := &m.line
	l.at = max(0, min(l.at+by, len(l.past)))
	entered := ""
	if l.at < len(l.past) {
		entered = l.past[l.at]
	}
	l.input.SetValue(entered)
	l.input.CursorEnd()
	l.input.SetSuggestions(completions(entered))
}

// enter carries out what was typed. After an error the line stays, to be corrected.
func (m *model) enter(typed string) {
	if typed == "" {
		m.line.open = false
		return
	}
	if n := len(m.line.past); n == 0 || m.line.past[n-1] != typed {
		m.line.past = append(m.line.past, typed)
	}
	m.line.at = len(m.line.past)
	m.notice = notice{}
	if err := m.carryOut(typed); err != nil {
		m.say(err.Error(), m.theme.Warn)
		return
	}
	m.line.open = false
}

// drawLine is what was typed, and on the right how it may go on.
func (m *model) drawLine(w int) string {
	in := &m.line.input
	typed := text.Clip(in.View(), w)
	hint := hintFor(in.Value())
	if in.CurrentSuggestion() != "" {
		hint += " · tab completes"
	}
	used := len([]rune(in.Prompt)) + max(len([]rune(in.Value())), len([]rune(in.CurrentSuggestion()))) + 2
	return text.Pad(text.Pad(typed, used)+m.theme.Dim.Render(text.ClipWords(hint, w-used)), w)
}

// lineCursor is where the terminal's cursor stands in the open line; nil: it is hidden.
func (m *model) lineCursor() *tea.Cursor {
	if !m.line.open || m.layout.tooSmall {
		return nil
	}
	c := m.line.input.Cursor()
	c.Y, c.X = m.layout.h-1, min(c.X, m.layout.w-1)
	return c
}
