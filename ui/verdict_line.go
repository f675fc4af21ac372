package ui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe/diagnose"
)

// verdictLines are the sentence below the panels, and below it, where there is
// room, what to do. A notice of something that just happened takes the last line
// for a few seconds.
func (t *theme) verdictLines(v diagnose.Verdict, n notice, w, h int) []string {
	lines := []string{t.verdictLine(v, w)}
	if h > 1 {
		lines = append(lines, t.advice(v, w))
	}
	if n.text != "" {
		lines[len(lines)-1] = pad(n.style.Render(cleanTo(" › "+n.text, w)), w)
	}
	return lines
}

func (t *theme) verdictLine(v diagnose.Verdict, w int) string {
	sign, style := t.sign(v.Level)
	says := cleanOr(v.Says, "no verdict yet")
	text := style.Render(" " + sign + " " + clip(says, w-3))
	if len(v.Evidence) > 0 {
		text += t.dim.Render(": " + clean(strings.Join(v.Evidence, ", ")))
	}
	return pad(text, w)
}

func (t *theme) advice(v diagnose.Verdict, w int) string {
	if v.Advice == "" {
		return pad("", w)
	}
	return pad(t.dim.Render("   → "+clean(v.Advice)), w)
}

// sign goes with the colour of a level, so that it reads without colour.
func (t *theme) sign(l diagnose.Level) (string, lipgloss.Style) {
	switch l {
	case diagnose.Healthy:
		return "●", t.good
	case diagnose.Note:
		return "◆", t.note
	case diagnose.Warn:
		return "▲", t.warn
	case diagnose.Bad:
		return "■", t.bad
	}
	return "·", t.dim
}
