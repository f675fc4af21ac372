package scrape

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// histogram merges a histogram over ranks. Only bounds that every rank has are
// kept, because counts at other bounds cannot be added up.
func (v view) histogram(list kinds.Ways) (engine.Histogram, picked) {
	p, ok := v.pick(list, "_bucket")
	if !ok {
		return v.mean(list)
	}
	t := p.Metrics[0]
	h := engine.Histogram{Sum: total(v.series(p, t, "_sum")) * t.Scale(), Count: total(v.series(p, t, "_count"))}
	buckets := mergeBuckets(v.series(p, t, "_bucket"))
	ranks := 0
	for _, b := range buckets {
		ranks = max(ranks, b.ranks)
	}
	for _, b := range buckets {
		if b.ranks == ranks {
			h.Bounds = append(h.Bounds, b.bound*t.Scale())
			h.Counts = append(h.Counts, b.count)
		}
	}
	return h.Complete(), p
}

// bucket is a bucket over ranks.
type bucket struct {
	bound, count float64
	ranks        int // that have it
}

// mergeBuckets adds up buckets by their bounds, and sorts them. Pages list the
// buckets of a rank in order, so the next one is most often where it is expected.
func mergeBuckets(samples []prom.Sample) []bucket {
	var buckets []bucket
	next := 0
	for _, s := range samples {
		bound, err := strconv.ParseFloat(s.Labels["le"], 64)
		if err != nil || math.IsNaN(bound) || !finite(s.Value) {
			continue
		}
		if next >= len(buckets) || buckets[next].bound != bound {
			next = slices.IndexFunc(buckets, func(b bucket) bool { return b.bound == bound })
		}
		if next < 0 {
			next = len(buckets)
			buckets = append(buckets, bucket{bound: bound})
		}
		buckets[next].count += s.Value
		buckets[next].ranks++
		if next++; next == len(buckets) {
			next = 0
		}
	}
	slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.bound, b.bound) })
	return buckets
}

// mean reads a distribution of which only sum and count are published, as counters.
func (v view) mean(list kinds.Ways) (engine.Histogram, picked) {
	p, ok := v.pick(list, "")
	if !ok || p.Op != kinds.Quotient {
		return engine.Histogram{}, p
	}
	sum, count := p.Metrics[0], p.Metrics[1]
	n := total(v.series(p, count, ""))
	return engine.Histogram{
		Bounds: []float64{math.Inf(1)}, Counts: []float64{n}, Count: n,
		Sum: total(v.series(p, sum, "")) * sum.Scale(),
	}, p
}

func total(samples []prom.Sample) float64 {
	sum := 0.0
	for _, s := range samples {
		if finite(s.Value) {
			sum += s.Value
		}
	}
	return sum
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
