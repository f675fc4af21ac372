package diagnose

import (
	"fmt"
	"slices"
	"time"

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
		Level: Warn,
		Says: fmt.Sprintf("%s p99 %s is %s its p50 of %s: %s",
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

// outlier finds that averages hide a request or a few that took many times as long
// as the others since the load was set: percentiles of a hundred do not show one.
type outlier struct {
	run measure.Summary
	longRun
	late time.Duration // since the slowest ended
}

func (r *outlier) check(h *history) outcome {
	const fewest, far, apart, weight = 20, 10, 1000, 1.3 // apart in ms
	if r.longRun = h.run; r.e2e == nil || r.e2e.N() < fewest {
		return unclear
	}
	r.run, r.late = r.e2e.Summary(), h.run.ago(h.now().At)
	// It has to matter: the longer all goes well, the less it does.
	return found(r.run.Max >= far*r.run.P50 && r.run.Max-r.run.P50 >= apart && r.run.Mean >= weight*r.run.P50)
}

// why tells what the slowest request's time went into.
func (r *outlier) why() string {
	q, total := &r.slowest, r.run.Max
	first, _ := q.TTFT()
	switch {
	case q.ID == r.first && first >= total/2:
		return "the very first: a cold start"
	case first >= total/2:
		return "it waited " + millis(first) + " for its first token"
	case r.outMean > 0 && float64(q.OutTokens) >= 3*r.outMean:
		return fmt.Sprintf("its answer has %d tokens, the mean %s", q.OutTokens, count(r.outMean))
	case r.maxGap >= total/2:
		return "it stood still for " + millis(r.maxGap)
	case q.Streamed && q.Chunks > 1:
		return "its tokens came slowly throughout"
	}
	return ""
}

func (r *outlier) verdict() Verdict {
	const past = 60 * time.Second
	v := Verdict{
		Level: Warn,
		Says: fmt.Sprintf("a tail: E2E max %s is %s the p50 of %s, so the mean of %s misleads",
			millis(r.run.Max), times(r.run.Max/r.run.P50), millis(r.run.P50), millis(r.run.Mean)),
		Evidence: []string{fmt.Sprintf("p95 %s, p99 %s, n %d since the load was set", millis(r.run.P95), millis(r.run.P99), r.run.N)},
		Advice:   "judge by percentiles; look for a long prompt or answer, a slow replica, or preemption",
	}
	if why := r.why(); why != "" {
		v.Evidence = append([]string{"of the slowest: " + why}, v.Evidence...)
	}
	if r.late >= past {
		v.Level = Note
		v.Evidence = append(v.Evidence, fmt.Sprintf("it ended %s ago", wholeSeconds(r.late)))
	}
	return v
}
