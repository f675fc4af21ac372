package scrape

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// distribution takes a distribution that no page has given yet.
func (s *snapshot) distribution(v view, f engine.Field) {
	to := s.Distribution(f)
	if !to.IsZero() {
		return
	}
	if h, p := v.histogram(v.table.Fields[f]); !h.IsZero() {
		*to = h
		s.Origins[f] = s.from(v, f, p)
	}
}

// histogram merges a histogram over ranks. Only bounds that every rank has are kept,
// because counts at other bounds cannot be added up.
func (v view) histogram(list kinds.Ways) (engine.Histogram, picked) {
	p, ok := v.pick(list, "_bucket")
	if !ok {
		return v.mean(list)
	}
	t := p.Metrics[0]
	h := engine.Histogram{Sum: total(v.series(p, t, "_sum")) * t.Scale(), Count: total(v.series(p, t, "_count"))}
	buckets, most := bucketsOf(v.series(p, t, "_bucket"))
	for _, bound := range slices.Sorted(maps.Keys(buckets)) {
		if b := buckets[bound]; b.ranks == most {
			h.Bounds = append(h.Bounds, bound*t.Scale())
			h.Counts = append(h.Counts, b.count)
		}
	}
	return h.Complete(), p
}

// bucket is a bound of a histogram, over all ranks.
type bucket struct {
	count float64
	ranks int // that have it
}

// bucketsOf adds up the buckets by their bounds, and returns of how many ranks most of them
// are. A bound that all ranks write alike is read once.
func bucketsOf(samples []prom.Sample) (buckets map[float64]bucket, most int) {
	written := map[string]*bucket{}
	for i := range samples {
		s := &samples[i]
		if !finite(s.Value) {
			continue
		}
		b := written[s.Labels["le"]]
		if b == nil {
			b = &bucket{}
			written[s.Labels["le"]] = b
		}
		b.count += s.Value
		b.ranks++
	}
	buckets = map[float64]bucket{}
	for le, w := range written {
		if bound, err := strconv.ParseFloat(le, 64); err == nil && !math.IsNaN(bound) {
			b := buckets[bound]
			b = bucket{b.count + w.count, b.ranks + w.ranks}
			buckets[bound], most = b, max(most, b.ranks)
		}
	}
	return buckets, most
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
