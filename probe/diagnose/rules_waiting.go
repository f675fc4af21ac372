package diagnose

import (
	"fmt"
	"time"

	"sonde/probe"
	"sonde/probe/engine"
	"sonde/probe/opt"
)

// overload finds a queue that grows while the load stays the same.
type overload struct {
	what           string
	before, after  float64
	oldest         time.Duration
	rate, achieved float64 // requests per second, asked and done; open loop only
}

// overloadSpan is how long the load must stand still before growth is judged.
const overloadSpan = 15 * time.Second

func (r *overload) check(h *history) outcome {
	frames, ok := h.steady(overloadSpan)
	if !ok || len(frames) < 6 {
		return unclear
	}
	now := h.now()
	queue := waiting
	r.what = "requests in the engine's queue"
	if !everyFrame(frames, waiting).OK {
		if now.Load.Asked.Rate == 0 {
			return unclear // a closed loop cannot run away
		}
		r.what = "requests without a first token"
		queue = func(f *probe.Frame) opt.Float { return opt.Of(float64(f.Client.Prefill)) }
	}
	third := len(frames) / 3
	a := everyFrame(frames[:third], queue).V
	b := everyFrame(frames[third:2*third], queue).V
	c := everyFrame(frames[2*third:], queue).V
	r.before, r.after, r.oldest = a, c, now.Client.OldestWaiting
	r.rate, r.achieved = now.Load.Asked.Rate, now.Client.RequestsPerS
	return found(a < b && b < c && c >= a+3 && c >= 1.2*a)
}

func (r *overload) verdict() Verdict {
	evidence := []string{fmt.Sprintf("%s: from %s to %s within %.0f s at the same load", r.what, count(r.before), count(r.after), overloadSpan.Seconds())}
	if r.oldest > 0 {
		evidence = append(evidence, fmt.Sprintf("the oldest has waited %s for its first token", millis(float64(r.oldest)/1e6)))
	}
	if r.rate > 0 {
		evidence = append(evidence, fmt.Sprintf("%.1f of %.1f requests per second are done", r.achieved, r.rate))
	}
	return Verdict{
		Level: Bad, Says: "overload: the queue keeps growing, more comes in than is served",
		Evidence: evidence, Advice: "lower the load, or add replicas",
	}
}

// slowStart finds a long wait for the first token while decoding is fine.
type slowStart struct {
	ttft, tpot     float64 // p50, ms
	queued         opt.Float
	queue, prefill opt.Float // the engine's own means, seconds
}

func (r *slowStart) check(h *history) outcome {
	const (
		highTTFT   = 1000 // ms: a second before anything is seen
		normalTPOT = 50   // ms: 20 tokens per second, faster than reading
		share      = 0.4  // of E2E
	)
	_, ok := h.steady(recent)
	c := &h.now().Client
	if !ok || c.TTFT.N < enough || c.TPOT.N < enough || c.E2E.N < enough {
		return unclear
	}
	r.ttft, r.tpot = c.TTFT.P50, c.TPOT.P50
	r.queued = h.engineMean(recent, waiting)
	list := h.readings(h.frames)
	r.queue = meanGain(list, func(e *engine.Reading) engine.Histogram { return e.Queue })
	r.prefill = meanGain(list, func(e *engine.Reading) engine.Histogram { return e.Prefill })
	return found(r.ttft >= highTTFT && r.ttft >= share*c.E2E.P50 &&
		r.tpot <= normalTPOT && c.TPOT.P95 <= 2*r.tpot)
}

func (r *slowStart) verdict() Verdict {
	cause, advice := "waiting or prefill", "see the engine's queue: switch its metrics on"
	switch {
	case r.queued.OK && r.queued.V >= 1:
		cause, advice = "waiting in the engine's queue", "lower the concurrency, raise the engine's limit of sequences, or add replicas"
	case r.queued.OK && r.queued.V == 0:
		cause, advice = "prefill", "shorten prompts, let the prefix cache work, or tune chunked prefill"
	}
	evidence := []string{fmt.Sprintf("TTFT p50 %s, TPOT p50 %s", millis(r.ttft), millis(r.tpot))}
	if r.queued.OK {
		evidence = append(evidence, fmt.Sprintf("%.1f requests in the engine's queue on average", r.queued.V))
	}
	if r.queue.OK && r.prefill.OK {
		evidence = append(evidence, fmt.Sprintf("by the engine: queue %s, prefill %s on average", millis(1000*r.queue.V), millis(1000*r.prefill.V)))
	}
	return Verdict{
		Level:    Warn,
		Says:     fmt.Sprintf("the first token takes %s, decoding is fine: %s", millis(r.ttft), cause),
		Evidence: evidence, Advice: advice,
	}
}

// meanGain is the mean, in seconds, of what a histogram gained over readings.
func meanGain(list []*engine.Reading, pick func(*engine.Reading) engine.Histogram) opt.Float {
	gain := gained(list, pick)
	if gain.Count <= 0 {
		return opt.Float{}
	}
	return opt.Of(gain.Sum / gain.Count)
}

// gained is what a histogram gained from the first to the last reading; empty if
// the engine restarted in between.
func gained(list []*engine.Reading, pick func(*engine.Reading) engine.Histogram) engine.Histogram {
	if len(list) < 2 {
		return engine.Histogram{}
	}
	for _, r := range list[1:] {
		if r.Restarted {
			return engine.Histogram{}
		}
	}
	return pick(list[len(list)-1]).Sub(pick(list[0]))
}

// pathDelay finds time that is lost between us and the engine.
type pathDelay struct {
	ours, engines float64 // mean TTFT, ms
	n             int
}

func (r *pathDelay) check(h *history) outcome {
	const fewest, ratio, least = 20, 2, 100 // requests; times; ms
	if _, ok := h.steady(recent); !ok {
		return unclear
	}
	sum := 0.0
	h.successes(func(q *probe.Request) {
		if v, ok := q.TTFT(); ok {
			sum += v
			r.n++
		}
	})
	gain := gained(h.readings(h.frames), func(e *engine.Reading) engine.Histogram { return e.TTFT })
	// Only if the engine counted about as many requests as we did are they the
	// same requests.
	if r.n < fewest || gain.Count < 0.75*float64(r.n) || gain.Count > 1.25*float64(r.n) {
		return unclear
	}
	r.ours, r.engines = sum/float64(r.n), 1000*gain.Sum/gain.Count
	return found(r.ours >= ratio*r.engines && r.ours >= r.engines+least)
}

func (r *pathDelay) verdict() Verdict {
	return Verdict{
		Level: Warn,
		Says: fmt.Sprintf("TTFT is %s here and %s by the engine's own account: the rest is lost on the way",
			millis(r.ours), millis(r.engines)),
		Evidence: []string{fmt.Sprintf("means over %d requests; connecting is not in TTFT", r.n)},
		Advice:   "look at the network, the gateway and the API process in front of the engine",
	}
}
