package engine

import (
	"slices"
	"time"

	"sonde/probe/opt"
)

// Growth adds up how much a counter grew from reading to reading. It is the one rule for
// that: a pair of readings counts only if the later one follows the earlier one (no
// restart, the same model and replicas) and the counter did not fall in between. The zero
// value is empty; totals are unknown until one pair has counted.
type Growth struct {
	sum   float64
	span  time.Duration // of the pairs that counted
	known bool
}

// Add takes two successive readings. The same reading twice adds nothing.
func (g *Growth) Add(before, after *Reading, counter func(*Reading) opt.Float) {
	from, to, span := counter(before), counter(after), after.At.Sub(before.At)
	if span <= 0 || !after.Follows(before) || !from.OK || !to.OK || to.V < from.V {
		return
	}
	g.sum += to.V - from.V
	g.span += span
	g.known = true
}

// AddOutput is Add for generated tokens: by the counter that moves with every step where
// both readings have it, because some engines' totals move only when a request ends.
func (g *Growth) AddOutput(before, after *Reading) {
	counter := func(r *Reading) opt.Float { return r.GenerationTokens }
	if before.LiveDecodeTokens.OK && after.LiveDecodeTokens.OK {
		counter = func(r *Reading) opt.Float { return r.LiveDecodeTokens }
	}
	g.Add(before, after, counter)
}

// Merge adds what another Growth of the same counter has seen, in another stretch of time.
func (g *Growth) Merge(o *Growth) {
	g.sum += o.sum
	g.span += o.span
	g.known = g.known || o.known
}

// Total is how much the counter grew.
func (g *Growth) Total() opt.Float { return opt.Float{V: g.sum, OK: g.known} }

// PerSecond is how fast the counter grew, over the time of the pairs that counted.
func (g *Growth) PerSecond() opt.Float {
	if !g.known {
		return opt.Float{}
	}
	return opt.Of(g.sum / g.span.Seconds())
}

// HistogramGrowth is Growth for a distribution.
type HistogramGrowth struct{ sum Histogram }

// Add takes two successive readings. A pair with other buckets is skipped too.
func (g *HistogramGrowth) Add(before, after *Reading, pick func(*Reading) *Histogram) {
	if after.At.After(before.At) && after.Follows(before) {
		g.add(pick(after).Sub(*pick(before)))
	}
}

// Merge adds what another HistogramGrowth of the same distribution has seen.
func (g *HistogramGrowth) Merge(o *HistogramGrowth) { g.add(o.sum) }

// add replaces what was there if the buckets have changed: they cannot be added up.
func (g *HistogramGrowth) add(grown Histogram) {
	switch {
	case len(grown.Bounds) == 0:
	case !slices.Equal(g.sum.Bounds, grown.Bounds):
		g.sum = grown
		g.sum.Counts = slices.Clone(grown.Counts)
	default:
		for i, n := range grown.Counts {
			g.sum.Counts[i] += n
		}
		g.sum.Sum += grown.Sum
		g.sum.Count += grown.Count
	}
}

// Total is a copy of the distribution of what was observed meanwhile; empty if unknown.
func (g *HistogramGrowth) Total() Histogram {
	h := g.sum
	h.Counts = slices.Clone(h.Counts)
	return h
}
