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
	s.tokenRates(prev, seconds)
	queries, hits := s.gained(prev, FieldPrefixQueries), s.gained(prev, FieldPrefixHits)
	if queries.V > 0 && hits.OK {
		s.PrefixHitRate = opt.Of(min(hits.V/queries.V, 1))
	}
}

// tokenRates makes rates of counters that move with every step. Those that move
// when a request ends would show nothing for minutes and then a jump: their rates
// stay unknown, or what the engine itself works out.
func (s *snapshot) tokenRates(prev *snapshot, seconds float64) {
	if s.LiveDecodeTokens.OK {
		s.rate(&s.GenerationTokensPerS, s.gained(prev, FieldLiveDecode), seconds)
		computed, cached := s.gained(prev, FieldLivePrefill), s.gained(prev, FieldLiveCached)
		s.rate(&s.PromptTokensPerS, opt.Float{V: computed.V + cached.V, OK: computed.OK}, seconds)
		return
	}
	if s.CountersOnFinish {
		return
	}
	s.rate(&s.GenerationTokensPerS, s.gained(prev, FieldGenerationTokens), seconds)
	s.rate(&s.PromptTokensPerS, s.gained(prev, FieldPromptTokens), seconds)
}

func (s *snapshot) rate(to *opt.Float, gained opt.Float, seconds float64) {
	if gained.OK {
		*to = gained.Scale(1 / seconds)
	}
}

// restartedSince tells whether the engine, or one of its ranks, began anew.
func (s *snapshot) restartedSince(prev *snapshot) bool {
	if s.started != prev.started && s.started != 0 && prev.started != 0 {
		return true
	}
	for field, before := range prev.series {
		now := s.series[field]
		if len(now) == 0 && fromExtra(prev.Origins[field]) {
			continue // that page has not answered this time
		}
		for rank, value := range before {
			if v, still := now[rank]; !still || v < value {
				return true
			}
		}
	}
	return slices.ContainsFunc(distributions, func(f Field) bool {
		return s.distribution(f).Count < prev.distribution(f).Count
	})
}

var distributions = []Field{FieldTTFT, FieldGap, FieldTPOT, FieldQueue, FieldPrefill, FieldDecode, FieldE2E}

// gained returns how much a counter grew. It is unknown when a rank has joined:
// what that rank counted before is not of this interval.
func (s *snapshot) gained(prev *snapshot, field Field) opt.Float {
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
