package level

import (
	"slices"
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
	ttft, gap, queue, e2e           buckets
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
	if r.Follows(s.before) {
		e.increases(s.before, r)
	}
}

func (e *engineTally) increases(before, now *engine.Reading) {
	span := now.At.Sub(before.At)
	e.preemptions.Add(before.Preemptions, now.Preemptions, span)
	e.queries.Add(before.PrefixQueries, now.PrefixQueries, span)
	e.hits.Add(before.PrefixHits, now.PrefixHits, span)
	from, to := outputCounters(before, now)
	e.out.Add(from, to, span)
	e.ttft.add(before.TTFT, now.TTFT)
	e.gap.add(before.Gap, now.Gap)
	e.queue.add(before.Queue, now.Queue)
	e.e2e.add(before.E2E, now.E2E)
}

// outputCounters are the generated tokens of two readings, by the counter that moves with
// every step where both have it: some engines' totals wait for a request's end.
func outputCounters(before, now *engine.Reading) (from, to opt.Float) {
	if before.LiveDecodeTokens.OK && now.LiveDecodeTokens.OK {
		return before.LiveDecodeTokens, now.LiveDecodeTokens
	}
	return before.GenerationTokens, now.GenerationTokens
}

func (e *engineTally) figures() Engine {
	out := Engine{
		Running: e.running.Mean(), Waiting: e.waiting.Mean(), WaitingMax: e.waiting.Max(),
		KV: e.kv.Mean(), KVMax: e.kvMax.Max(),
		Preemptions: e.preemptions.Total(), OutTokensPerS: e.out.PerSecond(), Restarts: e.restarts,
		TTFT: e.ttft.copied(), Gap: e.gap.copied(), Queue: e.queue.copied(), E2E: e.e2e.copied(),
	}
	if queries, hits := e.queries.Total(), e.hits.Total(); hits.OK && queries.Or(0) > 0 { // both in the same unit
		out.PrefixHitRate = opt.Of(hits.V / queries.V)
	}
	return out
}

// buckets add up the increases of one of the engine's histograms.
type buckets struct{ sum engine.Histogram }

// add takes two successive states of the histogram. A pair across a reset, or with other
// buckets, does not count.
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

func (b *buckets) copied() engine.Histogram {
	h := b.sum
	h.Counts = slices.Clone(h.Counts)
	return h
}
