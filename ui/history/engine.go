package history

import (
	"slices"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// Engine is what the engine reported about itself in the last minute, oldest first.
type Engine struct{ readings []*engine.Reading }

// EngineWindow is how far back it reaches: the engine's own latencies are differences
// over this time.
const EngineWindow = 60 * time.Second

// rateOver is what a rate is averaged over: engines count tokens when a step ends, so a
// single interval jumps.
const rateOver = 10 * time.Second

// fold adds a reading that is new.
func (e *Engine) fold(s *engine.Status) {
	switch last := e.last(); {
	case !s.Have:
		return
	case last == nil:
	case !s.Reading.SameOf(last), s.Reading.At.Before(last.At):
		e.readings = nil // another model or replica, or a source that started over
	case s.Reading.At.Equal(last.At):
		return
	}
	r := s.Reading
	old := func(before *engine.Reading) bool { return r.At.Sub(before.At) > EngineWindow }
	e.readings = append(slices.DeleteFunc(e.readings, old), &r)
}

func (e *Engine) last() *engine.Reading {
	if len(e.readings) == 0 {
		return nil
	}
	return e.readings[len(e.readings)-1]
}

func (e Engine) clone() Engine { return Engine{slices.Clone(e.readings)} }

// Rate is the mean of a rate over the readings of the last ten seconds.
func (e *Engine) Rate(rate func(*engine.Reading) opt.Float) opt.Float {
	var m opt.TimeMean
	for i := len(e.readings) - 1; i >= 0 && e.last().At.Sub(e.readings[i].At) < rateOver; i-- {
		m.Add(rate(e.readings[i]), 1)
	}
	return m.Mean()
}

// OutPerS and InPerS are the tokens per second that the engine writes and reads for all
// its clients.
func (e *Engine) OutPerS() opt.Float {
	return e.Rate(func(r *engine.Reading) opt.Float { return r.GenerationTokensPerS })
}

func (e *Engine) InPerS() opt.Float {
	return e.Rate(func(r *engine.Reading) opt.Float { return r.PromptTokensPerS })
}

// PrefixHits is the share of the prompts that the prefix cache answered, over the last
// ten seconds and more if nothing was requested in them: where requests come in step,
// every other reading knows of none.
func (e *Engine) PrefixHits() opt.Float {
	last := e.last()
	if last == nil {
		return opt.Float{}
	}
	share := last.PrefixHitRate
	var queries, hits engine.Growth
	for i := len(e.readings) - 1; i > 0 && e.readings[i].Follows(e.readings[i-1]); i-- {
		before, after := e.readings[i-1], e.readings[i]
		queries.Add(before, after, func(r *engine.Reading) opt.Float { return r.PrefixQueries })
		hits.Add(before, after, func(r *engine.Reading) opt.Float { return r.PrefixHits })
		if n := queries.Total(); n.Or(0) > 0 && hits.Total().OK {
			share = opt.Of(hits.Total().V / n.V)
		}
		if share.OK && last.At.Sub(before.At) >= rateOver {
			break
		}
	}
	return share
}

// Grown is what one of the engine's histograms gained in that time. It begins where the
// counters did.
func (e *Engine) Grown(pick func(*engine.Reading) *engine.Histogram, window time.Duration) engine.Histogram {
	var g engine.HistogramGrowth
	for i := len(e.readings) - 1; i > 0; i-- {
		before, after := e.readings[i-1], e.readings[i]
		if !after.Follows(before) || e.last().At.Sub(before.At) > window {
			break
		}
		g.Add(before, after, pick)
	}
	return g.Total()
}
