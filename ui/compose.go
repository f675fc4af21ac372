package ui

import (
	"fmt"
	"strings"

	"sonde/ui/chart"
	"sonde/ui/panel"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// draw makes the picture that View returns. Panels that did not change are not drawn again;
// only their lines are put together.
func (m *model) draw() {
	if !m.paused {
		m.shown = m.live
	}
	m.shown.Requested, m.shown.Cursor = m.requested(), m.kept(m.cursor)
	if m.layout.tooSmall {
		m.content = m.finish(m.tooSmall())
		return
	}
	lines := make([]string, 0, m.layout.h)
	lines = append(lines, panel.Title(&m.shown, m.paused, m.layout.w < fullWidth, m.layout.w))
	lines = append(lines, m.body()...)
	lines = append(lines, m.foot()...)
	m.content = m.finish(lines)
}

// finish makes the lines exactly as large as the screen and, where only ASCII is
// wanted, replaces every other character.
func (m *model) finish(lines []string) string {
	s := strings.Join(chart.Fit(lines, m.layout.w, m.layout.h), "\n")
	if m.theme.ASCII {
		s = strings.Map(theme.ToASCII, s)
	}
	return s
}

func (m *model) tooSmall() []string {
	s := fmt.Sprintf("too small: need %d×%d, have %d×%d; the load keeps running", floorWidth, floorHeight, m.layout.w, m.layout.h)
	return text.Wrap(s, m.layout.w)
}

// body is everything between the title and the verdict.
func (m *model) body() []string {
	if m.overlay != overlayNone {
		return m.drawOverlay()
	}
	var lines []string
	if m.layout.strip.h > 0 {
		lines = panel.Strip(&m.shown, m.layout.strip.w, m.focus == panel.Load)
	}
	for _, b := range m.layout.bands {
		lines = append(lines, m.band(b)...)
	}
	return lines
}

// band joins the panels of one band line by line.
func (m *model) band(places []place) []string {
	lines := make([]string, places[0].h)
	for i, p := range places {
		card := m.panels[p.id]
		looks := panel.Looks{Zoomed: m.zoomed, Focused: p.id == m.focus, Bare: m.layout.strip.h > 0}
		card.Render(&m.shown, p.w, p.h, looks, m.zoomed || p.id == panel.Load || m.turn == i)
		for i, l := range card.Lines {
			lines[i] += l
		}
	}
	return lines
}

// foot is the verdict and the keys. A notice takes the last line of the verdict for a few
// seconds, or the line of the keys if the verdict has only one.
func (m *model) foot() []string {
	v, verdict := m.layout.verdict, m.shown.Verdict()
	keys := keyLine(m.theme, m.offered(), m.lineOrder(), m.layout.w)
	if m.line.open {
		keys = m.drawLine(m.layout.w)
	}
	if m.notice.text == "" {
		return append(panel.VerdictLines(m.theme, verdict, v.w, v.h), keys)
	}
	notice := text.Pad(m.notice.style.Render(" › "+text.CleanTo(m.notice.text, v.w-3)), v.w)
	switch {
	case v.h == 1 && m.line.open:
		return []string{notice, keys}
	case v.h == 1:
		return append(panel.VerdictLines(m.theme, verdict, v.w, 1), notice)
	}
	return append(panel.VerdictLines(m.theme, verdict, v.w, v.h-1), notice, keys)
}
