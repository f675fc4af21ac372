package ui

import (
	"strings"
)

// explanation is what the explain key says about a panel.
type explanation struct {
	title  string
	text   []string // sentences
	source string
	now    []string // window, age, and what else is true of the present picture
}

const fromClient = "this client: stamps of the bytes as they arrived, on one monotonic clock"

// lines lays the explanation out in lines of w cells.
func (e explanation) lines(t *theme, w int) []string {
	inner := min(w-2, 96)
	var lines []string
	put := func(label, s string) {
		for i, l := range wrap(s, inner-9) {
			if i > 0 {
				label = ""
			}
			lines = append(lines, " "+t.dim.Render(pad(label, 9))+l)
		}
	}
	for _, s := range e.text {
		put("", s)
	}
	lines = append(lines, "")
	put("source", e.source)
	for _, s := range e.now {
		label, rest, _ := strings.Cut(s, " ")
		put(label, rest)
	}
	return lines
}

// windowNow tells the window of client statistics and how many samples it has.
func windowNow(p *picture, n int) []string {
	return []string{
		"window " + spanWindow(p.frame.Client.Window) + " by arrival, n " + group(float64(n)),
		"age " + frameAge(p),
	}
}

// frameAge says how fresh the client's own numbers are.
func frameAge(p *picture) string {
	switch {
	case !p.have:
		return "nothing has come yet"
	case p.silent > staleAfter:
		return "no Frame for " + span(p.silent)
	}
	return "now (a slice is " + span(p.frame.Slice) + ")"
}
