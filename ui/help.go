package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/units"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// namesWidth is that of the longest names of a word: "concurrency, c".
const namesWidth = 14

// help lists every key with its whole text, then the words of the command line and what the signs
// mean, in lines of w cells.
// It may be any length: the overlay scrolls.
func help(t *theme.Palette, all []command, typed []word, w int) []string {
	list := hints(all)
	keysWidth := 0
	for _, k := range list {
		keysWidth = max(keysWidth, ansi.StringWidth(k.shown))
	}
	var lines []string
	for _, k := range list {
		lines = append(lines, text.Indented(" "+t.Accent.Render(text.Pad(k.shown, keysWidth))+"  ", k.text, w, t.Plain)...)
	}
	lines = append(lines, "", t.Bold.Render(" command line, opened by :"))
	for _, c := range typed {
		names := strings.Join(c.names, ", ")
		lines = append(lines, text.Indented(" "+t.Accent.Render(text.Pad(names, namesWidth))+"  ", c.form, w, t.Plain)...)
	}
	lines = append(lines, "", t.Bold.Render(" signs and colours"))
	for _, s := range legend(t) {
		sign := s.style.Render(s.sign)
		lead := " " + sign + strings.Repeat(" ", max(0, keysWidth-ansi.StringWidth(s.sign))) + "  "
		lines = append(lines, text.Indented(lead, s.meaning, w, t.Plain)...)
	}
	return lines
}

// signMeaning is one line of the legend.
type signMeaning struct {
	sign    string
	style   lipgloss.Style
	meaning string
}

func legend(t *theme.Palette) []signMeaning {
	return []signMeaning{
		{theme.SignGood, t.Good, "good: healthy, SLO met; in the title: the state of the server"},
		{theme.SignNote, t.Note, "worth knowing, not a fault"},
		{theme.SignWarn, t.Warn, "warning; at the top of a chart: values beyond its scale"},
		{theme.SignBad, t.Bad, "bad: failed requests, SLO missed"},
		{"░", t.Calm, "streams: waiting for the first token; gaps: few of that length, ▓ █ many"},
		{"▒", t.Bold, "streams: a long prompt, waiting"},
		{"▁ ▂ ▄", t.Gaps[0], "streams: the longest gap, below 25, 50 and 100 ms; gaps have the same colours"},
		{"▆", t.Gaps[3], "100 ms and longer"},
		{"█", t.Gaps[4], "250 ms and longer. With an SLO on TPOT or gaps, steps are 1, 2, 4 and 10 times that"},
		{"·", t.Calm, "streams: a request ended"},
		{"×", t.Bad, "streams: a request failed"},
		{"┊", t.Mark, "the load was changed, or a long prompt was sent"},
		{"p50", t.P50, "the median" + drawnAs(t, "o")},
		{"p95", t.P95, "95 of 100 were shorter" + drawnAs(t, "+")},
		{"p99", t.P99, "99 of 100 were shorter" + drawnAs(t, "9")},
		{"dim", t.Dim, "too few samples, or a level that has not settled"},
		{units.Unknown, t.Plain, "unknown, not 0"},
		{"~", t.Plain, "an estimated number of tokens"},
		{"est.", t.Dim, "the engine's own figure, estimated from histogram buckets"},
	}
}

// drawnAs is how a percentile is drawn in ASCII; with braille it is always the one between the
// other two.
func drawnAs(t *theme.Palette, mark string) string {
	if !t.ASCII {
		return ""
	}
	return "; drawn as " + mark
}

// tourStop is something to try on the embedded engine: which keys to press, and what to look
// for.
type tourStop struct{ see, press, look string }

// tour leads through prefill and decode. It is shown where there is an embedded engine.
var tour = []tourStop{
	{"prefill and decode", "just look", "streams: ░ waits in prefill, ▂ decodes. GPU: prefill has high SM and low DRAM, decode has high DRAM"},
	{"prefill interference", "pgup pgup, then l", "a long prompt draws a stripe through all streams and lifts the gaps to about 200 ms"},
	{"chunked prefill cures it", "d, switch it off, esc, l", "unchunked, the same prompt stops all tokens for more than a second; switch it on again"},
	{"the knee", "← to 256, then s and t", "latency rises but throughput does not; the table shows which resource is exhausted"},
	{"KV exhaustion", "pgup to 16 streams", "14 prompts fill the KV cache and the others wait for room, as the verdict says"},
	{"prefix caching", "p p", "all prompts are the same: hits near 100 %, and TTFT falls to a few steps"},
	{"decode slows during a response", "0, ← to 256, ] to 4 096, pgup to 8; 3 z", "after the first responses: gaps by position rise as their KV cache grows"},
	{"incidents", "d, choose one, enter", "overload, noisy neighbour, buffering proxy …: see the verdict (v)"},
}

// tourLines writes the tour in lines of w cells.
func tourLines(t *theme.Palette, w int) []string {
	see, press := 0, 0
	for _, s := range tour {
		see, press = max(see, ansi.StringWidth(s.see)), max(press, ansi.StringWidth(s.press))
	}
	lines := []string{t.Bold.Render(" things to try on the embedded engine")}
	for _, s := range tour {
		if w >= fullWidth-2 {
			lead := " " + t.Plain.Render(text.Pad(s.see, see)) + "  " + t.Accent.Render(text.Pad(s.press, press)) + "  "
			lines = append(lines, text.Indented(lead, s.look, w, t.Dim)...)
			continue
		}
		lines = append(lines, " "+t.Plain.Render(s.see)+": "+t.Accent.Render(s.press))
		lines = append(lines, text.Indented("   ", s.look, w, t.Dim)...)
	}
	return lines
}
