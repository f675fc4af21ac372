package ui

import (
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// choose moves through the list of switches and flips one. It reports whether the key was
// one for that.
func (m *model) choose(key string) bool {
	if m.overlay != overlayRehearsal {
		return false
	}
	all := m.Rehearsal.Switches()
	switch key {
	case "up":
		m.chosen--
	case "down":
		m.chosen++
	case "enter", "space":
		m.flip(all)
	default:
		return false
	}
	m.chosen = max(0, min(m.chosen, len(all)-1))
	return true
}

func (m *model) flip(all []frame.Switch) {
	if m.chosen >= len(all) {
		return
	}
	name := all[m.chosen].Name
	if err := m.Rehearsal.Flip(name); err != nil {
		m.say(name+": "+err.Error(), m.theme.Warn)
		return
	}
	for _, s := range m.Rehearsal.Switches() {
		if s.Name == name && s.On() {
			m.say(name+" is on: "+s.Description, m.theme.Note)
		} else if s.Name == name {
			m.say(name+" is off", m.theme.Note)
		}
	}
}

// switchList writes the switches by group, marking those that are on and the chosen one, and
// returns the line of the chosen one.
func switchList(t *theme.Palette, all []frame.Switch, chosen, w int) (lines []string, at int) {
	name, value := 0, 0
	for _, s := range all {
		name, value = max(name, ansi.StringWidth(s.Name)), max(value, ansi.StringWidth(s.Value))
	}
	group := ""
	for i, s := range all {
		if s.Group != group {
			if group = s.Group; i > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, t.Bold.Render(" "+text.Clip(s.Group, w-2)))
		}
		lead, style := "   ", t.Plain
		if i == chosen {
			lead, style, at = " "+t.Accent.Render("›")+" ", t.Accent, len(lines)
		}
		sign := t.Dim.Render("○")
		if s.On() {
			sign = t.Warn.Render(theme.SignGood)
		}
		lead += sign + " " + style.Render(text.Pad(s.Name, name)) + "  " + t.Bold.Render(text.Pad(s.Value, value)) + "  "
		lines = append(lines, text.Indented(lead, s.Description, w, t.Dim)...)
	}
	return lines, at
}

// rehearsalText is the list, scrolled so that the chosen switch can be seen on h
// lines.
func (m *model) rehearsalText(w, h int) []string {
	lines, at := switchList(m.theme, m.Rehearsal.Switches(), m.chosen, w)
	m.scrolled = min(m.scrolled, at)
	m.scrolled = max(m.scrolled, at+2-h)
	return lines
}
