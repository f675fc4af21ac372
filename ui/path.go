package ui

import (
	"math"
	"time"

	"sonde/probe/engine"
)

// pathNote puts the engine's own TTFT beside ours; what is left is the path: the
// network, gateways, the API process. Means are taken, because they can be
// subtracted. Where the engine counts other clients' requests too, or some of ours
// are not in its figure, there is no path to tell.
func pathNote(t *theme, p *picture) []figure {
	ours := p.frame.Client.TTFT
	engines, n := p.history.engine.meanTTFT(p.frame.Client.Window)
	if ours.N == 0 || n < 1 {
		return nil
	}
	u := unitFor(engines)
	note := figure{"engine's TTFT mean " + u.with(engines), t.plain}
	path := ours.Mean - engines
	if math.Abs(n-float64(ours.N)) > othersShare*float64(ours.N) || path < 0 {
		return []figure{note}
	}
	u = unitFor(path)
	return []figure{note, {"path " + u.with(path), t.plain}}
}

// othersShare is by how much the engine's count of requests may differ from ours
// for them to be the same ones: readings and windows do not end together.
const othersShare = 0.25

// meanTTFT is the mean of the engine's TTFT over the readings of the last window,
// in milliseconds, and of how many requests.
func (l engineLog) meanTTFT(window time.Duration) (ms, n float64) {
	if len(l) < 2 {
		return 0, 0
	}
	last := &l[len(l)-1]
	var first *engine.Status
	for i := range l {
		if i > 0 && !l[i].Reading.Follows(&l[i-1].Reading) || first == nil && last.Reading.At.Sub(l[i].Reading.At) <= window {
			first = &l[i]
		}
	}
	h := last.Reading.TTFT.Sub(first.Reading.TTFT)
	return 1000 * h.Mean().Or(0), h.Count
}
