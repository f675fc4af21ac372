package headless

import (
	"slices"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// buckets adds up the increases of one of the engine's histograms.
type buckets struct {
	sum engine.Histogram
}

// add takes two successive states of the histogram. A pair across a reset, or
// with other buckets, is skipped.
func (b *buckets) add(before, after engine.Histogram) {
	grown := after.Sub(before)
	if len(grown.Bounds) == 0 {
		return
	}
	if !slices.Equal(b.sum.Bounds, grown.Bounds) {
		b.sum = grown
		return
	}
	for i, n := range grown.Counts {
		b.sum.Counts[i] += n
	}
	b.sum.Sum += grown.Sum
	b.sum.Count += grown.Count
}

func (b *buckets) estimate() Estimate {
	e := Estimate{N: int(b.sum.Count), Above: map[string]Number{}, Below: map[string]Number{}}
	if e.N == 0 {
		return e
	}
	e.Mean = number(opt.Of(1000 * b.sum.Sum / b.sum.Count))
	for _, p := range []struct {
		name string
		q    float64
		into *Number
	}{{"p50", 0.5, &e.P50}, {"p95", 0.95, &e.P95}, {"p99", 0.99, &e.P99}} {
		seconds, above, ok := b.sum.Quantile(p.q)
		if ok {
			*p.into = number(opt.Of(1000 * seconds))
		} else {
			e.Above[p.name] = number(opt.Of(1000 * above))
		}
		if ok && b.inLowest(p.q) {
			e.Below[p.name] = number(opt.Of(1000 * b.sum.Bounds[0]))
		}
	}
	return e
}

// inLowest tells whether a quantile lies in the lowest bucket, which says only
// that it is below the bound.
func (b *buckets) inLowest(q float64) bool { return b.sum.Counts[0] >= q*b.sum.Count }
