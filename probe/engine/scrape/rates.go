package scrape

import (
	"math"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// since fills in what moved since an earlier snapshot, over the time that really
// went by. A restart makes everything about that interval unknown.
func (s *snapshot) since(prev *snapshot) {
	if prev == nil {
		return
	}
	if prev.model == s.model {
		s.partRates(prev)
	}
	if prev.model != s.model || prev.Replica != s.Replica || s.Regrouped {
		return
	}
	s.Restarted = s.Restarted || !prev.instance().is(s)
	s.Regrouped = s.lost(prev)
	if s.Restarted || s.Regrouped {
		return
	}
	seconds := s.At.Sub(prev.At).Seconds()
	if seconds <= 0 {
		return
	}
	s.tokenRates(prev, seconds)
	queries, hits := s.gained(prev, engine.FieldPrefixQueries), s.gained(prev, engine.FieldPrefixHits)
	if queries.V > 0 && hits.OK {
		s.increase(engine.FieldHitRateGauge, opt.Of(min(hits.V/queries.V, 1)), engine.FieldPrefixHits)
	}
}

// tokenRates makes rates of counters that move with every step. Those that move
// when a request ends would show nothing for minutes and then a jump: their rates
// stay unknown, or what the engine itself works out.
func (s *snapshot) tokenRates(prev *snapshot, seconds float64) {
	if s.LiveDecodeTokens.OK {
		s.increase(engine.FieldOutputGauge, s.rate(prev, engine.FieldLiveDecode, seconds), engine.FieldLiveDecode)
		computed, cached := s.rate(prev, engine.FieldLivePrefill, seconds), s.rate(prev, engine.FieldLiveCached, seconds)
		s.increase(engine.FieldInputRate, opt.Float{V: computed.V + cached.V, OK: computed.OK}, engine.FieldLivePrefill)
		return
	}
	if s.CountersOnFinish {
		return
	}
	s.increase(engine.FieldOutputGauge, s.rate(prev, engine.FieldGenerationTokens, seconds), engine.FieldGenerationTokens)
	s.increase(engine.FieldInputRate, s.rate(prev, engine.FieldPromptTokens, seconds), engine.FieldPromptTokens)
}

// increase sets what was made of a counter's increase. Where that is unknown, the
// engine's own gauge stays.
func (s *snapshot) increase(f engine.Field, v opt.Float, of engine.Field) {
	s.Put(f, v, engine.Origin{Source: "increase of " + s.Origins[of].Source, At: s.At})
}

// rate is how fast a counter grew over the interval, per second.
func (s *snapshot) rate(prev *snapshot, field engine.Field, seconds float64) opt.Float {
	if step := s.step(field); step > 1 {
		return s.heldRate(prev, field, step)
	}
	return s.gained(prev, field).Scale(1 / seconds)
}

// lost reports whether a rank of some counter is gone: the sums are of others.
func (s *snapshot) lost(prev *snapshot) bool {
	for field, before := range prev.series {
		now := s.series[field]
		if len(now) == 0 || s.renamed(prev, field) {
			continue // read from elsewhere now, or not at all
		}
		for rank := range before {
			if _, still := now[rank]; !still {
				return true
			}
		}
	}
	return false
}

// renamed reports whether a field is read from another metric than before: some appear
// with the first request.
func (s *snapshot) renamed(prev *snapshot, field engine.Field) bool {
	now, before := s.Origins[field].Source, prev.Origins[field].Source
	return now != before && now != "" && before != ""
}

// gained returns how much a counter grew.
func (s *snapshot) gained(prev *snapshot, field engine.Field) opt.Float {
	if s.renamed(prev, field) {
		return opt.Float{}
	}
	return s.series[field].since(prev.series[field])
}

// since returns how much counters grew. It is unknown when one of them fell, or when a rank
// has joined: what that rank counted before is not of this interval.
func (c counters) since(before counters) opt.Float {
	if len(c) == 0 || len(c) != len(before) {
		return opt.Float{}
	}
	for key, value := range c {
		if last, known := before[key]; !known || value < last {
			return opt.Float{}
		}
	}
	return opt.Of(c.total() - before.total())
}

// Counters that are printed with a few digits move in steps: past a million by ten,
// past ten millions by a hundred. Over a second such a step says nothing, so their
// rates are taken over as long as it needs to move by several steps.
const (
	stepsForRate = 10
	longestHold  = 30 * time.Second
)

const roundedNote = "large counters are printed with six digits: their rates cover the last seconds, up to half a minute"

// held is where a rate was last taken.
type held struct {
	total float64
	at    time.Time
	rate  opt.Float // per second
}

// step is by how much a counter moves at least, as it is printed.
func (s *snapshot) step(field engine.Field) float64 {
	total := s.series[field].total()
	if s.digits == 0 || total < math.Pow10(s.digits) {
		return 1
	}
	return math.Pow10(int(math.Floor(math.Log10(total))) + 1 - s.digits)
}

// heldRate is the rate since it was last taken, if the counter has moved enough or
// long enough ago; else the one that was taken then.
func (s *snapshot) heldRate(prev *snapshot, field engine.Field, step float64) opt.Float {
	last, known := prev.held[field]
	if !known {
		if len(prev.series[field]) == 0 {
			return opt.Float{}
		}
		last = held{total: prev.series[field].total(), at: prev.At}
	}
	moved, elapsed := s.series[field].total()-last.total, s.At.Sub(last.at)
	if moved >= stepsForRate*step || elapsed >= longestHold {
		last = held{s.series[field].total(), s.At, opt.Of(moved / elapsed.Seconds())}
	}
	s.held[field] = last
	s.Note(roundedNote)
	return last.rate
}
