package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/diagnose"
	"sonde/ui/chart"
)

// Signs go with the colours of a level, so that they read without colour. They
// mean the same wherever they stand.
const (
	signGood = "●"
	signNote = "◆"
	signWarn = "▲"
	signBad  = "■"
)

// verdictLines are the sentence below the panels with its evidence, and where
// they leave a line free, what to do. A notice of something that just happened
// takes the last line for a few seconds; it never takes the only one.
func (t *theme) verdictLines(v diagnose.Verdict, n notice, w, h int) []string {
	room := h
	if n.text != "" && h > 1 {
		room--
	}
	lines := t.verdict(v, w, room)
	if len(lines) < room && v.Advice != "" {
		lines = append(lines, t.dim.Render("   → "+cleanTo(v.Advice, w-5)))
	}
	lines = chart.Fit(lines, w, room)
	if room < h {
		lines = append(lines, t.noticeLine(n, w))
	}
	return lines
}

func (t *theme) noticeLine(n notice, w int) string {
	return pad(n.style.Render(" › "+cleanTo(n.text, w-3)), w)
}

// verdict is the sentence and after it as much whole evidence as fits, in at most
// h lines broken between words.
func (t *theme) verdict(v diagnose.Verdict, w, h int) []string {
	sign, style := t.sign(v.Severity)
	says, inner := cleanOr(v.Text, "no verdict yet"), w-3
	lines := wrap(says, inner)
	if len(lines) > h {
		lines = append(lines[:h-1], clipWords(strings.Join(lines[h-1:], " "), inner))
	}
	text := says
	for i, e := range v.Evidence {
		text += separator(i) + clean(e)
		if longer := wrap(text, inner); len(longer) <= h {
			lines = longer
		}
	}
	return t.afterSign(" "+sign+" ", style, lines, ansi.StringWidth(says))
}

// separator stands before the evidence number i.
func separator(i int) string {
	if i == 0 {
		return ": "
	}
	return ", "
}

// afterSign puts the sign before the first line; the first loud cells of the text
// are in its style, the rest is dim.
func (t *theme) afterSign(sign string, style lipgloss.Style, lines []string, loud int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		first := ansi.Truncate(line, max(0, loud), "")
		rest := line[len(first):]
		loud -= ansi.StringWidth(line) + 1 // and the blank at which it was broken
		lead := strings.Repeat(" ", ansi.StringWidth(sign))
		if i == 0 {
			lead = style.Render(sign)
		}
		out[i] = lead + style.Render(first) + t.dim.Render(rest)
	}
	return out
}

// verdicts are all that hold, whole, for the overlay.
func (t *theme) verdicts(all []diagnose.Verdict, w int) []string {
	if len(all) == 0 {
		return []string{t.dim.Render(" no verdict yet")}
	}
	var lines []string
	for i, v := range all {
		if i > 0 {
			lines = append(lines, "")
		}
		sign, style := t.sign(v.Severity)
		lines = append(lines, t.afterSign(" "+sign+" ", style, wrap(cleanOr(v.Text, "no verdict yet"), w-4), len(v.Text))...)
		for _, e := range v.Evidence {
			lines = append(lines, indented("   · ", clean(e), w, t.plain)...)
		}
		if v.Advice != "" {
			lines = append(lines, indented("   → ", clean(v.Advice), w, t.plain)...)
		}
	}
	return lines
}

// checked tells what became of the other rules: which were looked at and do not
// hold, and which could not be judged.
func (t *theme) checked(c diagnose.Checked, w int) (lines []string) {
	for _, l := range []struct {
		lead  string
		rules []diagnose.Rule
	}{{"looked at, and not so: ", c.RuledOut}, {"cannot be told (too little data, or no source tells): ", c.Inconclusive}} {
		if len(l.rules) > 0 {
			names := make([]string, len(l.rules))
			for i, r := range l.rules {
				names[i] = strings.ReplaceAll(string(r), "_", " ")
			}
			lines = append(append(lines, ""), indented("   ", l.lead+strings.Join(names, ", "), w, t.dim)...)
		}
	}
	return lines
}

// indented wraps text behind a lead; further lines are indented as far.
func indented(lead, text string, w int, st lipgloss.Style) []string {
	n := ansi.StringWidth(lead)
	lines := wrap(text, w-n-1)
	for i, l := range lines {
		lines[i] = lead + st.Render(l)
		lead = strings.Repeat(" ", n)
	}
	return lines
}

// sign goes with the colour of a level.
func (t *theme) sign(l diagnose.Severity) (string, lipgloss.Style) {
	switch l {
	case diagnose.Healthy:
		return signGood, t.good
	case diagnose.Info:
		return signNote, t.note
	case diagnose.Warn:
		return signWarn, t.warn
	case diagnose.Bad:
		return signBad, t.bad
	}
	return "·", t.dim
}
