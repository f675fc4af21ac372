package ui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/ui/chart"
)

// figure is a short text with a style, such as "p95 840", in the title of a panel.
type figure struct {
	text  string
	style lipgloss.Style
}

// heading is what stands in a panel's upper border: its name at the left, its
// figures at the right. Figures are listed by importance; the last ones go first
// when room is short, but all keep the order in which they are listed. The foot,
// in the lower border, is for what is true only now and then: an age, a warning.
type heading struct {
	name    string
	short   string // the name where there is no room for name and figures; "" = name
	figures []figure
	spare   int // index of the figure that goes first when room is short; 0 = the last one
	foot    []figure
	column  time.Duration // a panel with time to the right: the length of a column
}

// box draws a frame of w×h cells around a body.
//
//	╭ name ───── figure  figure ╮
//	│ body                      │
//	╰──────────────────── foot ─╯
func (t *theme) box(hd heading, body []string, w, h int, focused bool) []string {
	if w < 2 || h < 2 {
		return chart.Fit([]string{hd.name}, w, h)
	}
	edge, title := t.border, t.bold
	if focused {
		edge, title = t.focus, t.focus
	}
	side := edge.Render("│")
	lines := make([]string, 0, h)
	lines = append(lines, t.top(hd, w, edge, title))
	for _, l := range chart.Fit(body, w-2, h-2) {
		lines = append(lines, side+l+side)
	}
	return append(lines, t.bottom(hd, w, edge))
}

// bottom is the lower border with a time axis and the foot, whose figures go the
// same way as those of the title when room is short.
func (t *theme) bottom(hd heading, w int, edge lipgloss.Style) string {
	text, used, _ := t.figures(shortened(hd.foot, w-6), 0, w-4)
	line := timeAxis(w-2, w-3-used, hd.column)
	if used == 0 {
		return edge.Render("╰" + string(line) + "╯")
	}
	return edge.Render("╰"+string(line[:w-3-used])) + text + edge.Render("─╯")
}

// The time axis has a tick every ten columns, counted from now at the right, and
// a time at every third.
const (
	tickEvery  = 10
	labelEvery = 3
)

// timeAxis draws w cells, of which the first free ones can be seen: a time that
// would be cut is left out.
func timeAxis(w, free int, column time.Duration) []rune {
	line := []rune(strings.Repeat("─", w))
	if column <= 0 {
		return line
	}
	for k := 1; k*tickEvery < w-1; k++ {
		at := w - 1 - k*tickEvery
		line[at] = '┴'
		label := []rune(span(time.Duration(k*tickEvery) * column))
		if k%labelEvery == 0 && at+1+len(label) <= free {
			copy(line[at+1:], label)
		}
	}
	return line
}

// top is the upper border with as many figures as fit.
func (t *theme) top(hd heading, w int, edge, title lipgloss.Style) string {
	name := clip(" "+hd.name+" ", w-2)
	room := w - 2 - ansi.StringWidth(name) - 1 // a piece of border between name and figures
	text, used, whole := t.figures(hd.figures, hd.spare, room)
	if cut := ansi.StringWidth(name) < ansi.StringWidth(hd.name)+2; hd.short != "" && (cut || !whole) {
		hd.name, hd.short = hd.short, ""
		return t.top(hd, w, edge, title)
	}
	rest := w - 2 - ansi.StringWidth(name) - used
	return edge.Render("╭") + title.Render(name) + edge.Render(strings.Repeat("─", rest)) + text + edge.Render("╮")
}

// because shows, instead of a chart, that there is nothing to show and why.
func (t *theme) because(why string, w, h int) []string {
	if why == "" {
		why = "no reading yet"
	}
	lines := []string{t.dim.Render(" " + unknown)}
	for _, l := range wrap(clean(why), w-2) {
		lines = append(lines, t.dim.Render(" "+l))
	}
	return chart.Fit(lines, w, h)
}
