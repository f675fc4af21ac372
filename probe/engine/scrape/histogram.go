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
		s.from(v, f, p)
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
	type bucket struct {
		count float64
		ranks int // that have it
	}
	buckets, most := map[float64]bucket{}, 0
	for _, s := range v.series(p, t, "_bucket") {
		bound, err := strconv.ParseFloat(s.Labels["le"], 64)
		if err != nil || math.IsNaN(bound) || !finite(s.Value) {
			continue
		}
		b := buckets[bound]
		b = bucket{b.count + s.Value, b.ranks + 1}
		buckets[bound], most = b, max(most, b.ranks)
	}
	for _, bound := range slices.Sorted(maps.Keys(buckets)) {
		if b := buckets[bound]; b.ranks == most {
			h.Bounds = append(h.Bounds, bound*t.Scale())
			h.Counts = append(h.Counts, b.count)
		}
	}
	return h.Complete(), p
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
