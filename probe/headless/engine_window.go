package headless

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// staleAfter is the age at which a reading says nothing about the present any
// more.
const staleAfter = 30 * time.Second

// engineWindow gathers what the engine said within the window. Counters and
// histograms are added up from reading to reading, so that an interval in which
// the engine restarted can be left out.
type engineWindow struct {
	last engine.Reading
	have bool

	running, waiting, kv, kvMax opt.TimeMean
	preemptions                 increase
	queries, hits               increase
	generated                   increase
	ttft, gap, queue, e2e       buckets
	restarts                    int
	identity                    engine.Identity
}

// add takes a Frame of which `held` lies in the window; fresh tells that its
// reading does too. Readings before it still matter: the last of them is what
// the first increase counts from.
func (e *engineWindow) add(f *frame.Frame, held time.Duration, fresh bool) {
	if f.Engine.Identity.Kind != "" || f.Engine.Identity.Model != "" {
		e.identity = f.Engine.Identity
	}
	if !f.Engine.Have || stale(f, f.Engine.Reading.At) {
		return
	}
	r := &f.Engine.Reading
	if held > 0 && fresh {
		e.gauges(r, held)
	}
	if e.have && r.At.Equal(e.last.At) {
		return
	}
	if e.have && held > 0 {
		e.increases(r)
	}
	e.last, e.have = *r, true
}

// stale tells whether something taken at that wall time is too old for f. It
// cannot be told without the wall time of the session's start.
func stale(f *frame.Frame, at time.Time) bool {
	if f.Target.Started.IsZero() || at.IsZero() {
		return false
	}
	return f.Target.Started.Add(f.At).Sub(at) > staleAfter
}

func (e *engineWindow) gauges(r *engine.Reading, held time.Duration) {
	e.running.Add(r.Running, held)
	e.waiting.Add(r.Waiting, held)
	e.kv.Add(r.KVFill, held)
	e.kvMax.Add(r.FullestKV(), held)
}

func (e *engineWindow) increases(r *engine.Reading) {
	if r.Restarted {
		e.restarts++
	}
	if !r.Follows(&e.last) {
		return
	}
	last, span := &e.last, r.At.Sub(e.last.At)
	e.preemptions.add(last.Preemptions, r.Preemptions, span)
	before, now := outputCounters(last, r)
	e.generated.add(before, now, span)
	e.queries.add(last.PrefixQueries, r.PrefixQueries, span)
	e.hits.add(last.PrefixHits, r.PrefixHits, span)
	e.ttft.add(last.TTFT, r.TTFT)
	e.gap.add(last.Gap, r.Gap)
	e.queue.add(last.Queue, r.Queue)
	e.e2e.add(last.E2E, r.E2E)
}

// outputCounters are the generated tokens of two readings, by the counter that moves
// with every step where both have it: some engines' totals wait for a request's end.
func outputCounters(last, now *engine.Reading) (before, after opt.Float) {
	if last.LiveDecodeTokens.OK && now.LiveDecodeTokens.OK {
		return last.LiveDecodeTokens, now.LiveDecodeTokens
	}
	return last.GenerationTokens, now.GenerationTokens
}

// restart empties the window but keeps the newest reading to count from.
func (e *engineWindow) restart() {
	*e = engineWindow{last: e.last, have: e.have, identity: e.identity}
}

func (e *engineWindow) figures() EngineFigures {
	return EngineFigures{
		RunningMean:   number(e.running.Mean()),
		WaitingMax:    number(e.waiting.Max()),
		KVFillMean:    share(e.kv.Mean()),
		KVFillMax:     share(e.kvMax.Max()),
		Preemptions:   number(e.preemptions.total()),
		PrefixHitRate: share(e.hitRate()),
		OutputPerS:    number(e.generated.perSecond()),
		LatencyMS: EngineLatencies{
			TTFT: e.ttft.estimate(), Gap: e.gap.estimate(), Queue: e.queue.estimate(), E2E: e.e2e.estimate(),
		},
	}
}

// hitRate is hits over queries, both in tokens; unknown without a query.
func (e *engineWindow) hitRate() opt.Float {
	if !e.queries.known || !e.hits.known || e.queries.sum == 0 {
		return opt.Float{}
	}
	return opt.Of(e.hits.sum / e.queries.sum)
}

// increase sums up how much a counter grew.
type increase struct {
	sum   float64
	span  time.Duration
	known bool
}

// add takes two successive values; a counter that fell was reset in between,
// and that interval is skipped.
func (c *increase) add(before, after opt.Float, span time.Duration) {
	if !before.OK || !after.OK || after.V < before.V {
		return
	}
	c.sum += after.V - before.V
	c.span += span
	c.known = true
}

func (c *increase) total() opt.Float {
	if !c.known {
		return opt.Float{}
	}
	return opt.Of(c.sum)
}

func (c *increase) perSecond() opt.Float {
	if c.span <= 0 {
		return opt.Float{}
	}
	return opt.Of(c.sum / c.span.Seconds())
}
