package engine

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"sonde/probe/opt"
	"sonde/probe/prom"
)

// Sub returns what h gained since prev. It is empty (unknown) when prev has other
// buckets or more in them: then the engine has restarted in between.
func (h Histogram) Sub(prev Histogram) Histogram {
	if len(h.Bounds) == 0 || !slices.Equal(h.Bounds, prev.Bounds) || h.Count < prev.Count {
		return Histogram{}
	}
	diff := Histogram{Bounds: h.Bounds, Counts: make([]float64, len(h.Counts)), Sum: h.Sum - prev.Sum, Count: h.Count - prev.Count}
	for i := range h.Counts {
		diff.Counts[i] = h.Counts[i] - prev.Counts[i]
		if diff.Counts[i] < 0 {
			return Histogram{}
		}
	}
	return diff
}

// Quantile estimates a quantile, q from 0 to 1, in seconds, as if observations
// were spread evenly within a bucket. Beyond the last finite bound it is not ok,
// and above is that bound. Without observations it is not ok, and above is 0.
func (h Histogram) Quantile(q float64) (v, above float64, ok bool) {
	if h.Count <= 0 || len(h.Bounds) == 0 || math.IsNaN(q) {
		return 0, 0, false
	}
	rank := min(max(q, 0), 1) * h.Count
	var lower, below float64
	for i, bound := range h.Bounds {
		count := max(h.Counts[i], below) // pages of several processes may be torn
		if count >= rank && count > below {
			if math.IsInf(bound, 1) {
				return 0, lower, false
			}
			lower = min(lower, bound)
			return lower + (bound-lower)*max(rank-below, 0)/(count-below), 0, true
		}
		lower, below = bound, count
	}
	return 0, lower, false
}

// Mean is the mean of the observations in seconds; unknown without any.
func (h Histogram) Mean() opt.Float {
	if h.Count <= 0 {
		return opt.Float{}
	}
	return opt.Of(h.Sum / h.Count)
}

// histogram merges a histogram over ranks. Only bounds that every rank has are
// kept, because counts at other bounds cannot be added up.
func (v view) histogram(list names) (Histogram, picked) {
	p, ok := v.pick(list, "_bucket")
	if !ok {
		return Histogram{}, p
	}
	t := p.terms[0]
	h := Histogram{Sum: total(v.series(p, t, "_sum")) * t.scale(), Count: total(v.series(p, t, "_count"))}
	buckets := mergeBuckets(v.series(p, t, "_bucket"))
	ranks := 0
	for _, b := range buckets {
		ranks = max(ranks, b.ranks)
	}
	for _, b := range buckets {
		if b.ranks == ranks {
			h.Bounds = append(h.Bounds, b.bound*t.scale())
			h.Counts = append(h.Counts, b.count)
		}
	}
	return h.complete(), p
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
func (v view) mean(m sumAndCount) (Histogram, picked) {
	p, ok := v.pick(names{m.sum + " / " + m.count}, "")
	if !ok {
		return Histogram{}, p
	}
	sum, count := p.terms[0], p.terms[1]
	n := total(v.series(p, count, ""))
	return Histogram{
		Bounds: []float64{math.Inf(1)}, Counts: []float64{n}, Count: n,
		Sum: total(v.series(p, sum, "")) * sum.scale(),
	}, p
}

// complete sees to it that the last bound is +Inf and agrees with the count.
func (h Histogram) complete() Histogram {
	if len(h.Bounds) == 0 {
		return Histogram{}
	}
	last := len(h.Bounds) - 1
	if !math.IsInf(h.Bounds[last], 1) {
		h.Bounds = append(h.Bounds, math.Inf(1))
		h.Counts = append(h.Counts, max(h.Count, h.Counts[last]))
		last++
	}
	if h.Count == 0 {
		h.Count = h.Counts[last]
	}
	return h
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
