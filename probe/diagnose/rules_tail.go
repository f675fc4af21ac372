package diagnose

import (
	"fmt"
	"slices"

	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// tail finds a 99th percentile far from the median.
type tail struct {
	what   string
	figure func(*measure.Request) (ms float64, ok bool)
	s      measure.Summary
	cause  cause
}

// cause is what the slow requests have in common.
type cause struct{ says, advice string }

func (r *tail) check(h *history) outcome {
	const fewest = 100 // below, p99 is only the maximum
	const ratio = 5
	const least = 50 // ms: below, nobody minds
	requests := h.atLoad().requests
	d := measure.NewDist(len(requests))
	for _, q := range requests {
		if ms, ok := r.figure(q); ok {
			d.Add(ms)
		}
	}
	if r.s = d.Summary(); r.s.N < fewest {
		return unclear
	}
	if r.s.P99 < ratio*r.s.P50 || r.s.P99-r.s.P50 < least {
		return absent
	}
	var slow, usual []*measure.Request
	for _, q := range requests {
		if ms, ok := r.figure(q); ok && ms >= (r.s.P50+r.s.P99)/2 {
			slow = append(slow, q)
		} else if ok && ms <= 2*r.s.P50 {
			usual = append(usual, q)
		}
	}
	r.cause = commonCause(h, slow, usual)
	return holds
}

func (r *tail) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("%s p99 %s is %s its p50 of %s: %s",
			r.what, millis(r.s.P99), times(r.s.P99/r.s.P50), millis(r.s.P50), r.cause.says),
		Evidence: []string{fmt.Sprintf("mean %s, p95 %s, max %s, n %d", millis(r.s.Mean), millis(r.s.P95), millis(r.s.Max), r.s.N)},
		Advice:   r.cause.advice,
	}
}

// commonCause looks for what sets the slow requests apart from the usual ones.
func commonCause(h *history, slow, usual []*measure.Request) cause {
	const far = 3
	in := func(q *measure.Request) float64 { return float64(q.InTokens) }
	list := h.readings(h.frames)
	preempted := increase(list, func(e *engine.Reading) opt.Float { return e.Preemptions })
	switch {
	case middle(usual, in) > 0 && middle(slow, in) >= far*middle(usual, in):
		return cause{fmt.Sprintf("those have long prompts, %s tokens and not %s", count(middle(slow, in)), count(middle(usual, in))),
			"keep long prompts apart from short ones, or tune chunked prefill"}
	case preempted.OK && preempted.V >= 1:
		return cause{fmt.Sprintf("the engine preempted %s requests meanwhile", count(preempted.V)),
			"lower the concurrency or the lengths, or give the KV cache more memory"}
	case middle(slow, longestGap) >= 1000 && middle(slow, longestGap) >= far*middle(usual, longestGap):
		return cause{fmt.Sprintf("those stood still for up to %s", millis(middle(slow, longestGap))),
			"look at what happened at those moments: the engine's log, other prompts, the network"}
	}
	return cause{"a few requests are far slower", "look for a few long prompts, uneven replicas, or preemptions"}
}

// middle is the median of a figure over requests; 0 of none.
func middle(requests []*measure.Request, figure func(*measure.Request) float64) float64 {
	if len(requests) == 0 {
		return 0
	}
	values := make([]float64, len(requests))
	for i, q := range requests {
		values[i] = figure(q)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
