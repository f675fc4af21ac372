package level

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Engine is what the engine itself reports. Counters and histograms are how much they grew.
type Engine struct {
	Running, Waiting, WaitingMax opt.Float // requests in the engine; means and the largest
	KV, KVMax                    opt.Float // fill of the KV cache: mean, and of the fullest rank the largest
	Preemptions                  opt.Float
	PrefixHitRate                opt.Float // unknown without a query
	OutTokensPerS                opt.Float
	Restarts                     int // the intervals around them are in no figure

	TTFT, Gap, Queue, E2E engine.Histogram
}

// readings follow what the engine reports, whatever load is on: a span counts increases from
// the last reading before it.
type readings struct {
	last engine.Reading
	have bool
}

// step is what a Frame brings of the engine: its reading, and the one before if it is a new
// one.
type step struct {
	reading *engine.Reading // nil: none that is fresh
	before  *engine.Reading // nil: the reading is not new, or the first one
}

// next takes the next Frame.
func (r *readings) next(f *frame.Frame) step {
	now, fresh := f.FreshEngine()
	if !fresh {
		return step{}
	}
	s := step{reading: now}
	if r.have && now.At.Equal(r.last.At) {
		return s
	}
	if r.have {
		before := r.last
		s.before = &before
	}
	r.last, r.have = *now, true
	return s
}

// engineTally gathers what the engine reports within a span.
type engineTally struct {
	running, waiting, kv, kvMax     opt.TimeMean
	preemptions, queries, hits, out engine.Growth
	ttft, gap, queue, e2e           engine.HistogramGrowth
	restarts                        int
}

// add takes a step of which so much is in the span. seen reports whether the reading was
// taken in it.
func (e *engineTally) add(s step, held time.Duration, seen bool) {
	if s.reading == nil || held == 0 {
		return
	}
	r := s.reading
	if seen {
		e.running.Add(r.Running, held)
		e.waiting.Add(r.Waiting, held)
		e.kv.Add(r.KVFill, held)
		e.kvMax.Add(r.FullestKV(), held)
	}
	if s.before == nil {
		return
	}
	if r.Restarted {
		e.restarts++
	}
	e.increases(s.before, r)
}

func (e *engineTally) increases(before, now *engine.Reading) {
	e.preemptions.Add(before, now, func(r *engine.Reading) opt.Float { return r.Preemptions })
	e.queries.Add(before, now, func(r *engine.Reading) opt.Float { return r.PrefixQueries })
	e.hits.Add(before, now, func(r *engine.Reading) opt.Float { return r.PrefixHits })
	e.out.AddOutput(before, now)
	e.ttft.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.TTFT })
	e.gap.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.Gap })
	e.queue.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.Queue })
	e.e2e.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.E2E })
}

func (e *engineTally) figures() Engine {
	out := Engine{
		Running: e.running.Mean(), Waiting: e.waiting.Mean(), WaitingMax: e.waiting.Max(),
		KV: e.kv.Mean(), KVMax: e.kvMax.Max(),
		Preemptions: e.preemptions.Total(), OutTokensPerS: e.out.PerSecond(), Restarts: e.restarts,
		TTFT: e.ttft.Total(), Gap: e.gap.Total(), Queue: e.queue.Total(), E2E: e.e2e.Total(),
	}
	if queries, hits := e.queries.Total(), e.hits.Total(); hits.OK && queries.Or(0) > 0 { // both in the same unit
		out.PrefixHitRate = opt.Of(hits.V / queries.V)
	}
	return out
}
