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

// fitting is the name, or its short form where the first figure would not fit.
func (h heading) fitting(room int) string {
	need := ansi.StringWidth(h.name) + 2
	if len(h.figures) > 0 {
		need += figuresWidth(h.figures[:1])
	}
	if h.short != "" && need > room {
		return h.short
	}
	return h.name
}

// bottom is the lower border with a time axis and the foot, whose figures go the
// same way as those of the title when room is short.
func (t *theme) bottom(hd heading, w int, edge lipgloss.Style) string {
	line := timeAxis(w-2, hd.column)
	text, used := t.figures(hd.foot, w-4)
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

func timeAxis(w int, column time.Duration) []rune {
	line := []rune(strings.Repeat("─", w))
	if column <= 0 {
		return line
	}
	for k := 1; k*tickEvery < w-1; k++ {
		at := w - 1 - k*tickEvery
		line[at] = '┴'
		if k%labelEvery == 0 {
			copy(line[at+1:], []rune(span(time.Duration(k*tickEvery)*column)))
		}
	}
	return line
}

// top is the upper border with as many figures as fit.
func (t *theme) top(hd heading, w int, edge, title lipgloss.Style) string {
	name := clip(" "+hd.fitting(w-3)+" ", w-2)
	room := w - 2 - ansi.StringWidth(name) - 1 // a piece of border between name and figures
	text, used := t.figures(hd.figures, room)
	rest := w - 2 - ansi.StringWidth(name) - used
	return edge.Render("╭") + title.Render(name) + edge.Render(strings.Repeat("─", rest)) + text + edge.Render("╮")
}

// figures joins those that fit into room cells, with a blank at both ends.
func (t *theme) figures(all []figure, room int) (text string, used int) {
	if len(all) > 0 && figuresWidth(all[:1]) > room && room > 8 {
		all = []figure{{clip(all[0].text, room-2), all[0].style}}
	}
	for n := len(all); n > 0; n-- {
		if used = figuresWidth(all[:n]); used <= room {
			var b strings.Builder
			b.WriteString(" ")
			for i, f := range all[:n] {
				if i > 0 {
					b.WriteString("  ")
				}
				b.WriteString(f.style.Render(f.text))
			}
			return b.String() + " ", used
		}
	}
	return "", 0
}

func figuresWidth(fs []figure) int {
	w := 2 + 2*(len(fs)-1)
	for _, f := range fs {
		w += ansi.StringWidth(f.text)
	}
	return w
}

// row joins styled parts with two blanks, dropping from the end what does not fit
// into w cells.
func (t *theme) row(w int, parts ...figure) string {
	for n := len(parts); n > 0; n-- {
		if figuresWidth(parts[:n])-2 <= w {
			texts := make([]string, n)
			for i, f := range parts[:n] {
				texts[i] = f.style.Render(f.text)
			}
			return pad(strings.Join(texts, "  "), w)
		}
	}
	if len(parts) > 0 {
		return pad(parts[0].style.Render(clip(parts[0].text, w)), w)
	}
	return pad("", w)
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
