package ui

import (
	"github.com/charmbracelet/x/ansi"
)

// tourStop is something to see on the embedded engine: what to press, and what it
// looks like then.
type tourStop struct{ see, press, look string }

// tour leads through prefill and decode. It is told where there is an embedded
// engine.
var tour = []tourStop{
	{"prefill and decode", "just look", "streams: ░ waits in prefill, ▂ decodes. GPU: prefill has SM high and DRAM low, decode has DRAM high"},
	{"prefill interference", "pgup pgup, then l", "a long prompt draws a stripe through all streams and lifts the gaps to some 200 ms"},
	{"chunked prefill cures it", "d, switch it off, esc, l", "whole, the same prompt stops all tokens for more than a second; switch it on again"},
	{"the knee", "← to 256, then s and t", "throughput stops paying for latency; the table says which resource is exhausted"},
	{"KV exhaustion", "pgup to 16 streams", "14 prompts fill the KV cache, the others wait for room: the verdict says so"},
	{"prefix caching", "p p", "all prompts are the same: hits near 100 %, TTFT falls to a few steps"},
	{"decode slowing along an answer", "0, ← to 256, ] to 4 096, pgup to 8; 3 z", "after the first answers: gaps by position rise as their KV cache grows"},
	{"incidents", "d, choose one, enter", "overload, noisy neighbour, buffering proxy …: see what the verdict makes of them (v)"},
}

// tourLines writes the tour in lines of w cells.
func (t *theme) tourLines(w int) []string {
	see, press := 0, 0
	for _, s := range tour {
		see, press = max(see, ansi.StringWidth(s.see)), max(press, ansi.StringWidth(s.press))
	}
	lines := []string{t.bold.Render(" what to see on the embedded engine")}
	for _, s := range tour {
		if w >= fullWidth-2 {
			lead := " " + t.plain.Render(pad(s.see, see)) + "  " + t.accent.Render(pad(s.press, press)) + "  "
			lines = append(lines, indented(lead, s.look, w, t.dim)...)
			continue
		}
		lines = append(lines, " "+t.plain.Render(s.see)+": "+t.accent.Render(s.press))
		lines = append(lines, indented("   ", s.look, w, t.dim)...)
	}
	return lines
}
