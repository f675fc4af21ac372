package ui

import (
	"fmt"
	"strings"

	"sonde/ui/chart"
)

// draw makes the picture that View hands out. Panels that did not change are not
// drawn again; putting their lines together is all that is left.
func (m *model) draw() {
	if !m.paused {
		m.shown = m.live
	}
	m.shown.wish = m.wish()
	if m.layout.tooSmall {
		m.content = m.finish(m.tooSmall())
		return
	}
	lines := make([]string, 0, m.layout.h)
	lines = append(lines, m.theme.title(&m.shown, m.paused, m.layout.w))
	lines = append(lines, m.body()...)
	v := m.layout.verdict
	lines = append(lines, m.theme.verdictLines(m.shown.verdict(), m.notice, v.w, v.h)...)
	if m.notice.text != "" && v.h == 1 { // the keys can wait, the verdict cannot
		lines = append(lines, m.theme.noticeLine(m.notice, m.layout.w))
	} else {
		lines = append(lines, m.theme.keyLine(m.commands, m.lineOrder(), m.layout.w))
	}
	m.content = m.finish(lines)
}

// finish makes the lines exactly as large as the screen and, where only ASCII is
// wanted, replaces every other character.
func (m *model) finish(lines []string) string {
	s := strings.Join(chart.Fit(lines, m.layout.w, m.layout.h), "\n")
	if m.theme.ascii {
		s = strings.Map(toASCII, s)
	}
	return s
}

func (m *model) tooSmall() []string {
	text := fmt.Sprintf("too small, need %d×%d, have %d×%d; the load goes on", floorWidth, floorHeight, m.layout.w, m.layout.h)
	return wrap(text, m.layout.w)
}

// body is everything between the title and the verdict.
func (m *model) body() []string {
	if m.overlay != overlayNone {
		return m.drawOverlay()
	}
	var lines []string
	if m.layout.strip.h > 0 {
		lines = m.theme.strip(&m.shown, m.layout.strip.w, m.focus == panelLoad)
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
		v := m.panels[p.id]
		v.render(m.theme, &m.shown, p.rect, looks{
			zoomed: m.zoomed, focused: p.id == m.focus, bare: m.layout.strip.h > 0,
			turn: m.zoomed || p.id == panelLoad || m.turn == i,
		})
		for i, l := range v.lines {
			lines[i] += l
		}
	}
	return lines
}
