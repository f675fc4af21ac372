package ui

import (
	"fmt"
	"time"

	"sonde/probe"
)

func newTTFTPanel(t *theme) *latencyPanel {
	l := &latencyPanel{
		theme: t, metric: "ttft", name: "TTFT", dot: ttftOf, about: aboutTTFT,
		window: func(c *probe.Client) probe.Summary { return c.TTFT },
		level:  func(v *probe.LevelStats) probe.Summary { return v.TTFT },
	}
	l.foot = func(p *picture) []figure { return waitingNote(t, p) }
	l.notes = func(p *picture) []figure { return ttftNotes(t, p) }
	return l
}

var aboutTTFT = explanation{
	title: "TTFT: time to first token",
	text: []string{
		"From the first byte of the request on a ready connection to the arrival of the first chunk that carries generated text, reasoning and tool calls included.",
		"Connecting, TLS and waiting for a slot in this client are not in it: they are the setup.",
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
	return []figure{{"▲ oldest waiting " + span(wait), t.warn}}
}

// ttftNotes are numbers that explain a TTFT: what came before it and after it.
func ttftNotes(t *theme, p *picture) []figure {
	c := &p.frame.Client
	notes := []figure{summaryNote(t, "setup", c.Setup), summaryNote(t, "E2E", c.E2E)}
	if c.TTFA.N > 0 && c.TTFA.P50 != c.TTFT.P50 {
		notes = append(notes, summaryNote(t, "first answer token", c.TTFA))
	}
	return append(notes, waitingNote(t, p)...)
}

func summaryNote(t *theme, name string, s probe.Summary) figure {
	if s.N == 0 {
		return figure{name + " " + unknown, t.dim}
	}
	u := unitFor(s.P50)
	return figure{fmt.Sprintf("%s p50 %s  p95 %s %s", name, u.of(s.P50), u.of(s.P95), u.name), t.plain}
}
