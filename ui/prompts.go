package ui

import (
	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
)

// given tells that the prompts come from a file: no length is asked for, and they are
// sent as they are.
func given(l frame.Load) bool { return l.InputTokens == 0 }

// promptLength is the length that is asked for, in tokens.
func promptLength(l frame.Load) string {
	if given(l) {
		return "given"
	}
	return group(float64(l.InputTokens))
}

// promptPrefix is what prompts have in common.
func promptPrefix(l frame.Load) string {
	if given(l) {
		return "given"
	}
	return clean(l.Prefix)
}

// changePrompts is change for what is only up to us where we make the prompts.
func (m *model) changePrompts(f func(*frame.Load)) tea.Cmd {
	if m.controls != nil && given(m.controls.Load()) {
		m.say("the prompts come from a file and are sent as they are", m.theme.note)
		return nil
	}
	return m.change(f)
}
