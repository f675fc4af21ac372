package ui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
	"sonde/probe/sweep"
)

// Levels keeps a row of figures for every load setting that was held; *sweep.Levels
// is one.
type Levels interface {
	Rows() []sweep.Row
	SLOs() []sweep.SLO
	Replacing() bool
	Replace(bool)
}

// levels are the rows as they were at one moment, and what those at the present
// lengths say together.
type levels struct {
	rows      []sweep.Row // in the order in which the settings were first held
	result    sweep.Result
	replacing bool
}

// points are the settled levels of the curve, smallest load first.
func (l *levels) points() []sweep.Row {
	var settled []sweep.Row
	for _, r := range l.result.Curve {
		if r.Settled && r.OutTokensPerS.OK {
			settled = append(settled, r)
		}
	}
	return settled
}

// amountText is a load's number: streams, or requests per second.
func amountText(l frame.Load) string {
	if l.Rate > 0 {
		return sig2(l.Rate) + "/s"
	}
	return strconv.Itoa(l.Concurrency)
}

// seesLevels tells whether the levels are on the screen: only then they are asked
// for, because that sorts samples.
func (m *model) seesLevels() bool {
	return m.overlay == overlayLevels || m.zoomed && m.focus == panelLoad
}

// readLevels takes the rows as they are now.
func (m *model) readLevels() {
	if m.levels == nil || !m.seesLevels() {
		return
	}
	l := levels{rows: m.levels.Rows(), replacing: m.levels.Replacing()}
	l.result = sweep.Conclude(l.rows, m.wish(), m.levels.SLOs())
	m.live.levels = l
}

func (m *model) toggleLevels() tea.Cmd {
	m.shifted = 0
	return m.toggle(overlayLevels)
}

// keepLevels begins a table that the screen feeds itself.
func (m *model) keepLevels(slos []sweep.SLO) {
	m.feed = sweep.NewLevels(slos)
	m.levels = m.feed
}

// toggleReplace chooses what another visit to a level does.
func (m *model) toggleReplace() tea.Cmd {
	if m.levels == nil {
		m.say("no levels are kept here", m.theme.dim)
		return nil
	}
	m.levels.Replace(!m.levels.Replacing())
	m.say(revisited(m.levels.Replacing()), m.theme.note)
	return nil
}

func revisited(replacing bool) string {
	if replacing {
		return "a level that is visited again begins anew (a: add to it)"
	}
	return "a level that is visited again adds to its figures (a: begin anew)"
}

// levelsText is the table, what it says, the curve, and the evidence, in lines of w
// cells. The curve takes what the table leaves of h lines, within reason.
func (m *model) levelsText(w, h int) []string {
	t, l := m.theme, &m.shown.levels
	lines := t.levelTable(l.rows, m.shown.wish, m.shifted, w)
	lines = append(lines, t.conclusions(&l.result, w)...)
	lines = append(lines, "")
	lines = append(lines, m.curve.draw(t, &m.shown, w, max(usualCurve, h-len(lines)))...)
	lines = append(lines, "")
	if k := l.result.Knee; k != nil {
		for _, e := range k.Evidence {
			lines = append(lines, indented(" · ", clean(e), w, t.plain)...)
		}
	}
	return append(lines, indented(" · ", revisited(l.replacing), w, t.dim)...)
}

// usualCurve is how many lines a curve takes where everything has to be scrolled
// anyway.
const usualCurve = 15

// conclusions are the largest load within the service levels, and the knee.
func (t *theme) conclusions(r *sweep.Result, w int) []string {
	var lines []string
	if b := &r.Boundary; b.Says != "" {
		sign, style := signWarn, t.warn
		if b.Best != nil {
			sign, style = signGood, t.good
		}
		lines = append(lines, t.afterSign(" "+sign+" ", style, wrap(clean(b.Says), w-4), len(b.Says))...)
	}
	switch k := r.Knee; {
	case k != nil:
		lines = append(lines, t.afterSign(" "+signNote+" ", t.note, wrap(clean(k.Says), w-4), len(k.Says))...)
	case r.NoKnee != "" && len(r.Curve) > 0:
		lines = append(lines, indented(" · ", "no knee yet: "+clean(r.NoKnee), w, t.dim)...)
	}
	return lines
}
