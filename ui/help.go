package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// help lists every key with its whole text, then what the signs mean, in lines of
// w cells. It is as long as it has to be: the overlay scrolls.
func (t *theme) help(all []command, w int) []string {
	list := hints(all)
	keysWidth := 0
	for _, k := range list {
		keysWidth = max(keysWidth, ansi.StringWidth(k.keys))
	}
	var lines []string
	for _, k := range list {
		lines = append(lines, indented(" "+t.accent.Render(pad(k.keys, keysWidth))+"  ", k.text, w, t.plain)...)
	}
	lines = append(lines, "", t.bold.Render(" signs and colours, the same everywhere"))
	for _, s := range t.legend() {
		sign := s.style.Render(s.sign)
		lead := " " + sign + strings.Repeat(" ", max(0, keysWidth-ansi.StringWidth(s.sign))) + "  "
		lines = append(lines, indented(lead, s.means, w, t.plain)...)
	}
	return lines
}

// signMeaning is one line of the legend.
type signMeaning struct {
	sign  string
	style lipgloss.Style
	means string
}

func (t *theme) legend() []signMeaning {
	return []signMeaning{
		{signGood, t.good, "good: healthy, a service level is met, probing"},
		{signNote, t.note, "worth knowing, no fault"},
		{signWarn, t.warn, "warning; at the top of a chart: values beyond its scale"},
		{signBad, t.bad, "bad: failed requests, a service level is missed"},
		{"░", t.calm, "streams: waits for its first token; gaps: few at that height"},
		{"▒", t.bold, "streams: a long prompt that waits; gaps: more (▓ █: many)"},
		{"▁ █", t.calm, "streams: the longest gap, from usual to 14 times and more"},
		{"·", t.calm, "streams: a request ended"},
		{"×", t.bad, "streams: a request failed"},
		{"┊", t.mark, "the load was changed, or a long prompt was fired"},
		{"p50", t.p50, "the median"},
		{"p95", t.p95, "95 of 100 were shorter"},
		{"p99", t.p99, "99 of 100 were shorter"},
		{"dim", t.dim, "too few samples, or a level that has not settled"},
		{unknown, t.plain, "unknown, which is not 0"},
		{"~", t.plain, "an estimated number of tokens"},
		{"est.", t.dim, "the engine's own figure, from its buckets"},
	}
}
