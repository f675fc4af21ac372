package text

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/theme"
)

// Heading is what stands in a panel's upper border: its name at the left, its
// figures at the right. Figures are listed by importance; the last ones go first
// when room is short, but all keep the order in which they are listed. The foot,
// in the lower border, is for what is true only now and then: an age, a warning.
type Heading struct {
	Name    string
	Short   string // the name where there is no room for name and figures; "" = Name
	Figures []Figure
	Spare   int // index of the figure that goes first when room is short; 0 = the last one
	Foot    []Figure
	Column  time.Duration // a panel with time to the right: the length of a column
	Cursor  int           // how many columns before the right edge a cursor is, from 1; 0: there is none
}

// Box draws a frame of w×h cells around a body.
//
//	╭ name ───── figure  figure ╮
//	│ body                      │
//	╰──────────────────── foot ─╯
func Box(t *theme.Palette, hd Heading, body []string, w, h int, focused bool) []string {
	if w < 2 || h < 2 {
		return chart.Fit([]string{hd.Name}, w, h)
	}
	edge, title := t.Border, t.Bold
	if focused {
		edge, title = t.Focus, t.Focus
	}
	side := edge.Render("│")
	lines := make([]string, 0, h)
	lines = append(lines, top(hd, w, edge, title))
	for _, l := range chart.Fit(body, w-2, h-2) {
		lines = append(lines, side+l+side)
	}
	return append(lines, bottom(hd, w, edge))
}

// top is the upper border with as many figures as fit.
func top(hd Heading, w int, edge, title lipgloss.Style) string {
	name := Clip(" "+hd.Name+" ", w-2)
	room := w - 2 - ansi.StringWidth(name) - 1 // a piece of border between name and figures
	text, used, whole := figures(hd.Figures, hd.Spare, room)
	if cut := ansi.StringWidth(name) < ansi.StringWidth(hd.Name)+2; hd.Short != "" && (cut || !whole) {
		hd.Name, hd.Short = hd.Short, ""
		return top(hd, w, edge, title)
	}
	rest := w - 2 - ansi.StringWidth(name) - used
	return edge.Render("╭") + title.Render(name) + edge.Render(strings.Repeat("─", rest)) + text + edge.Render("╮")
}

// bottom is the lower border with a time axis and the foot, whose figures go the
// same way as those of the title when room is short.
func bottom(hd Heading, w int, edge lipgloss.Style) string {
	text, used, _ := figures(shortened(hd.Foot, w-6), 0, w-4)
	line := timeAxis(w-2, w-3-used, hd.Column)
	if at := w - 2 - hd.Cursor; hd.Cursor > 0 && at >= 0 {
		line[at] = '┃'
	}
	if used == 0 {
		return edge.Render("╰" + string(line) + "╯")
	}
	return edge.Render("╰"+string(line[:w-3-used])) + text + edge.Render("─╯")
}

// The time axis has a tick every ten columns, counted from now at the right, and a time
// in the place of every third; where few ticks fit, in the place of each.
const (
	tickEvery  = 10
	labelEvery = 3
	fewTicks   = 4
)

// timeAxis draws w cells, of which the first free ones can be seen: a time that
// would be cut is omitted.
func timeAxis(w, free int, column time.Duration) []rune {
	line := []rune(strings.Repeat("─", w))
	if column <= 0 {
		return line
	}
	every := labelEvery
	if w <= fewTicks*tickEvery {
		every = 1
	}
	for k := 1; k*tickEvery < w-1; k++ {
		at := w - 1 - k*tickEvery
		line[at] = '┴'
		label := []rune(units.Span(time.Duration(k*tickEvery) * column))
		from := at - (len(label)-1)/2
		if k%every == 0 && from > 0 && from+len(label) < free {
			copy(line[from:], label)
		}
	}
	return line
}

// Because shows, instead of a chart, that there is nothing to show and why.
func Because(t *theme.Palette, why string, w, h int) []string {
	if why == "" {
		why = "no reading yet"
	}
	return chart.Fit(append([]string{t.Dim.Render(" " + units.Unknown)}, reasons(t, why, w)...), w, h)
}

// Instead shows, instead of a chart, figures of another source, and why.
func Instead(t *theme.Palette, why string, w, h int, source string, figures ...Figure) []string {
	lines := []string{t.Dim.Render(Clip(source, w)), " " + Row(w-1, figures...)}
	return chart.Fit(append(lines, reasons(t, why, w)...), w, h)
}

func reasons(t *theme.Palette, why string, w int) []string {
	var lines []string
	for _, l := range Wrap(Clean(why), w-2) {
		lines = append(lines, t.Dim.Render(" "+l))
	}
	return lines
}
