package ui

import (
	"fmt"
	"time"

	"sonde/probe/measure"
)

func newTTFTPanel(t *theme) panel {
	l := &latencyPanel{
		theme: t, metric: "ttft", name: "TTFT", dot: ttftOf, about: aboutTTFT,
		window: func(c *measure.Client) measure.Summary { return c.TTFT },
		level:  func(v *measure.LevelStats) measure.Summary { return v.TTFT },
		engine: ttftGrowth,
		seen:   func(v version) int { return v.ttft },
	}
	l.foot = func(p *picture) []figure { return waitingNote(t, p) }
	l.notes = func(p *picture) []figure { return append(ttftNotes(t, p), floorNotes(t, ttftFloor(p))...) }
	return &flooredPanel{latencyPanel: l, facts: ttftFloor}
}

var aboutTTFT = explanation{
	title: "TTFT: time to first token",
	text: []string{
		"From the first byte of the request on a ready connection to the arrival of the first chunk that carries generated text, reasoning and tool calls included.",
		"Connecting, TLS and waiting for a slot in this client are not in it: they are the setup.",
		"TTFA, in the zoom: time to the first token that is no reasoning, where that differs.",
		"A request without a token has no TTFT. Until it has one it shows as \"oldest waiting\".",
		"Lines: p50, p95, p99 of the requests whose first token came in that half column.",
	},
	source: fromClient,
}

// longWait is how long a request may wait for its first token before the panel
// says so, when there is no p95 to compare with.
const longWait = time.Second

// waitingNote is a lower bound for the TTFT of a request that still waits: a
// stall shows while it happens, not afterwards.
func waitingNote(t *theme, p *picture) []figure {
	c := &p.frame.Client
	wait := c.OldestWaiting
	p95 := time.Duration(c.TTFT.P95 * float64(time.Millisecond))
	if wait <= 0 || wait <= longWait && (c.TTFT.N == 0 || wait <= p95) {
		return nil
	}
	return []figure{{signWarn + " oldest waiting " + span(wait), t.warn}}
}

// ttftNotes are numbers that explain a TTFT: what came before it and after it.
func ttftNotes(t *theme, p *picture) []figure {
	c := &p.frame.Client
	notes := []figure{summaryNote(t, "setup", c.Setup), summaryNote(t, "E2E", c.E2E)}
	if answersLater(c.TTFT, c.TTFA) {
		notes = append(notes, summaryNote(t, "TTFA", c.TTFA))
	}
	return append(append(notes, pathNote(t, p)...), waitingNote(t, p)...)
}

// answersLater tells whether the answer begins later than the first token. Over
// the same requests any difference counts; a request whose answer is still to
// come is in one of the two only, and then a tenth more is asked for.
func answersLater(first, answer measure.Summary) bool {
	if answer.N == 0 {
		return false
	}
	if answer.N == first.N {
		return answer.P50 != first.P50 || answer.P95 != first.P95
	}
	return answer.P50 > 1.1*first.P50 || answer.P95 > 1.1*first.P95
}

func summaryNote(t *theme, name string, s measure.Summary) figure {
	if s.N == 0 {
		return figure{name + " " + unknown, t.dim}
	}
	u := unitFor(s.P50)
	return figure{fmt.Sprintf("%s p50 %s  p95 %s", name, u.of(s.P50), u.with(s.P95)), t.plain}
}
