package diagnose

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// tailOf finds a 99th percentile of a latency far from the median.
func tailOf(name string, latency figure) func(*history) finding {
	return func(h *history) finding {
		s := summaryOf(h.present.requests, latency)
		if s.N < enoughForP99 || s.P99 < tailTimes*s.P50 || s.P99-s.P50 < tailByMS {
			return decide(s.N >= enoughForP99, false, finding{})
		}
		cause, advice := h.tailCause(latency, s)
		return warn("%s p99 %s is %s its p50 of %s: %s", name, units.Millis(s.P99), units.Ratio(s.P99/s.P50), units.Millis(s.P50), cause).
			with("mean %s, p95 %s, max %s, n %d", units.Millis(s.Mean), units.Millis(s.P95), units.Millis(s.Max), s.N).
			advise(advice)
	}
}

// tailCause looks for what sets the slow requests apart from the usual ones.
func (h *history) tailCause(latency figure, s measure.Summary) (cause, advice string) {
	var slow, usual []*measure.Request
	for _, q := range h.present.requests {
		if ms, ok := latency(q); ok && ms >= (s.P50+s.P99)/2 {
			slow = append(slow, q)
		} else if ok && ms <= 2*s.P50 {
			usual = append(usual, q)
		}
	}
	in := func(q *measure.Request) float64 { return float64(q.InTokens) }
	dropped := increase(h.readings(h.frames), engine.FieldPreemptions)
	stood := middle(slow, longestGap)
	switch {
	case middle(usual, in) > 0 && middle(slow, in) >= tailCauseTimes*middle(usual, in):
		return fmt.Sprintf("slow requests have long prompts, %s tokens instead of %s", units.Whole(middle(slow, in)), units.Whole(middle(usual, in))),
			"separate long prompts from short ones, or tune chunked prefill"
	case dropped.OK && dropped.V >= 1:
		return fmt.Sprintf("the engine preempted %s meanwhile", units.Count(dropped.V, "request")), moreKV
	case stood >= tailStoodMS && stood >= tailCauseTimes*middle(usual, longestGap):
		return fmt.Sprintf("slow requests stood still for up to %s", units.Millis(stood)),
			"check what happened then: the engine's log, other prompts, the network"
	}
	return "a few requests are far slower", "look for a few long prompts, uneven replicas, or preemptions"
}

// checkE2ETail finds that averages hide one request, or a few, that took many times as long
// as the others since the load was set: a p99 does not show one of a hundred.
func checkE2ETail(h *history) finding {
	s := h.run.e2e.Summary()
	v := tailOfE2E(s, h.run.why(s.Max))
	ago := h.now().At - h.run.slowest.End
	past := ago >= outlierPast || h.run.slowest.Start < h.clean
	return decide(v.outcome != inconclusive, v.outcome == holds, v.asIf(past, Info).withIf(past, "it ended %s ago", units.Elapsed(ago)))
}

// Tail judges the E2E of a whole run, including requests that ended after its last Frame:
// whether one or a few of them took many times as long as the others.
func Tail(e2e measure.Summary) (v Verdict, ok bool) {
	f := tailOfE2E(e2e, "")
	f.Rule = "e2e_tail"
	return f.Verdict, f.outcome == holds
}

// tailOfE2E finds that the slowest request took many times as long as the others, and that
// it matters: the longer all goes well, the less a single one does. why is what it spent its
// time on.
func tailOfE2E(s measure.Summary, why string) finding {
	if why != "" {
		why = "the slowest " + why
	}
	far := s.Max >= outlierTimes*s.P50 && s.Max-s.P50 >= outlierByMS && s.Mean >= outlierMean*s.P50
	return decide(s.N >= outlierFewest, far, warn("a long tail: E2E max %s is %s the p50 of %s, so the mean of %s is misleading",
		units.Millis(s.Max), units.Ratio(s.Max/s.P50), units.Millis(s.P50), units.Millis(s.Mean)).
		with("%s", why).
		with("p95 %s, p99 %s, n %d since the load was set", units.Millis(s.P95), units.Millis(s.P99), s.N).
		advise("judge by percentiles; look for a long prompt or response, a slow replica, or preemption"))
}

// why is what the slowest request spent its time on, of so many ms.
func (l *longRun) why(total float64) string {
	q := &l.slowest
	first, _ := q.TTFT()
	switch {
	case q.ID == l.first && first >= total/2:
		return "was the very first: a cold start"
	case first >= total/2:
		return "waited " + units.Millis(first) + " for its first token"
	case l.outMean > 0 && float64(q.OutTokens) >= outlierAnswer*l.outMean:
		return fmt.Sprintf("has a response of %d tokens; the mean is %s", q.OutTokens, units.Whole(l.outMean))
	case l.maxGap >= total/2:
		return "stood still for " + units.Millis(l.maxGap)
	case q.Streamed && q.Chunks > 1:
		return "got its tokens slowly throughout"
	}
	return ""
}
