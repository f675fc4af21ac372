package engine

import (
	"maps"
	"slices"

	"sonde/probe/opt"
)

// since fills in what moved since an earlier snapshot, over the time that really
// went by. A restart makes everything about that interval unknown.
func (s *snapshot) since(prev *snapshot) {
	if prev == nil || prev.model != s.model {
		return
	}
	if s.Restarted = s.restartedSince(prev); s.Restarted {
		return
	}
	seconds := s.At.Sub(prev.At).Seconds()
	if seconds <= 0 {
		return
	}
	s.PromptTokensPerS = s.gained(prev, promptTokens).Scale(1 / seconds)
	s.GenerationTokensPerS = s.gained(prev, generationTokens).Scale(1 / seconds)
	queries, hits := s.gained(prev, prefixQueries), s.gained(prev, prefixHits)
	if queries.V > 0 && hits.OK {
		s.PrefixHitRate = opt.Of(min(hits.V/queries.V, 1))
	}
}

// restartedSince tells whether the engine, or one of its ranks, began anew.
func (s *snapshot) restartedSince(prev *snapshot) bool {
	if s.started != prev.started && s.started != 0 && prev.started != 0 {
		return true
	}
	for field, before := range prev.series {
		now := s.series[field]
		for rank, value := range before {
			if v, still := now[rank]; !still || v < value {
				return true
			}
		}
	}
	return slices.ContainsFunc([][2]Histogram{
		{s.TTFT, prev.TTFT}, {s.Gap, prev.Gap}, {s.Queue, prev.Queue}, {s.Prefill, prev.Prefill}, {s.E2E, prev.E2E},
	}, func(h [2]Histogram) bool { return h[0].Count < h[1].Count })
}

// gained returns how much a counter grew. It is unknown when a rank has joined:
// what that rank counted before is not of this interval.
func (s *snapshot) gained(prev *snapshot, field string) opt.Float {
	before, now := prev.series[field], s.series[field]
	if len(now) == 0 || len(before) != len(now) {
		return opt.Float{}
	}
	sum := 0.0
	for _, rank := range slices.Sorted(maps.Keys(now)) {
		sum += now[rank] - before[rank]
	}
	return opt.Of(sum)
}
