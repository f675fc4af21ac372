package diagnose

import (
	"fmt"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// tailOf finds a 99th percentile of a latency far from the median.
func tailOf(name string, latency figure) check {
	return func(h *history) (outcome, Verdict) {
		requests := h.atLoad().requests
		s := summaryOf(requests, latency)
		if s.N < enoughForP99 {
			return unclear, Verdict{}
		}
		return when(s.P99 >= tailTimes*s.P50 && s.P99-s.P50 >= tailByMS, func() Verdict {
			cause := h.commonCause(split(requests, latency, s))
			return Verdict{
				Severity: Warn,
				Text:     fmt.Sprintf("%s p99 %s is %s its p50 of %s: %s", name, units.Millis(s.P99), units.Ratio(s.P99/s.P50), units.Millis(s.P50), cause.text),
				Evidence: []string{fmt.Sprintf("mean %s, p95 %s, max %s, n %d", units.Millis(s.Mean), units.Millis(s.P95), units.Millis(s.Max), s.N)},
				Advice:   cause.advice,
			}
		})
	}
}

// split tells the slow requests from the usual ones.
func split(requests []*measure.Request, latency figure, s measure.Summary) (slow, usual []*measure.Request) {
	for _, q := range requests {
		if ms, ok := latency(q); ok && ms >= (s.P50+s.P99)/2 {
			slow = append(slow, q)
		} else if ok && ms <= 2*s.P50 {
			usual = append(usual, q)
		}
	}
	return slow, usual
}

// cause is what the slow requests have in common.
type cause struct{ text, advice string }

// commonCause looks for what sets the slow requests apart from the usual ones.
func (h *history) commonCause(slow, usual []*measure.Request) cause {
	in := func(q *measure.Request) float64 { return float64(q.InTokens) }
	dropped := increase(h.readings(h.frames), preempted)
	stood := middle(slow, longestGap)
	switch {
	case middle(usual, in) > 0 && middle(slow, in) >= tailCauseTimes*middle(usual, in):
		return cause{fmt.Sprintf("they have long prompts, %s tokens instead of %s", units.Whole(middle(slow, in)), units.Whole(middle(usual, in))),
			"keep long prompts apart from short ones, or tune chunked prefill"}
	case dropped.OK && dropped.V >= 1:
		return cause{fmt.Sprintf("the engine preempted %s meanwhile", units.Count(dropped.V, "request")), moreKV}
	case stood >= tailStoodMS && stood >= tailCauseTimes*middle(usual, longestGap):
		return cause{fmt.Sprintf("they stood still for up to %s", units.Millis(stood)),
			"look at what happened at those moments: the engine's log, other prompts, the network"}
	}
	return cause{"a few requests are far slower", "look for a few long prompts, uneven replicas, or preemptions"}
}

// checkE2ETail finds that averages hide a request or a few that took many times as long
// as the others since the load was set: percentiles of a hundred do not show one.
func checkE2ETail(h *history) (outcome, Verdict) {
	if h.run.e2e == nil {
		return unclear, Verdict{}
	}
	s := h.run.e2e.Summary()
	found := farOut(s)
	if found != holds {
		return found, Verdict{}
	}
	v := tailOfE2E(s)
	if why := h.run.why(s.Max); why != "" {
		v.Evidence = append([]string{"the slowest " + why}, v.Evidence...)
	}
	if ago := h.now().At - h.run.slowest.End; ago >= outlierPast {
		v.Severity = Info
		v.Evidence = append(v.Evidence, fmt.Sprintf("it ended %s ago", units.Elapsed(ago)))
	}
	return holds, v
}

// farOut reports whether the slowest of all took many times as long as the others, and
// whether it matters: the longer all goes well, the less a single one does.
func farOut(e2e measure.Summary) outcome {
	switch {
	case e2e.N < outlierFewest:
		return unclear
	case e2e.Max >= outlierTimes*e2e.P50 && e2e.Max-e2e.P50 >= outlierByMS && e2e.Mean >= outlierMean*e2e.P50:
		return holds
	}
	return absent
}

// Tail judges the E2E of a whole run, with requests that ended after its last
// Frame: whether one or a few of them took many times as long as the others.
func Tail(e2e measure.Summary) (v Verdict, ok bool) {
	if farOut(e2e) != holds {
		return Verdict{}, false
	}
	return tailOfE2E(e2e), true
}

func tailOfE2E(s measure.Summary) Verdict {
	return Verdict{
		Rule: RuleE2ETail, Severity: Warn,
		Text: fmt.Sprintf("a long tail: E2E max %s is %s the p50 of %s, so the mean of %s misleads",
			units.Millis(s.Max), units.Ratio(s.Max/s.P50), units.Millis(s.P50), units.Millis(s.Mean)),
		Evidence: []string{fmt.Sprintf("p95 %s, p99 %s, n %d since the load was set", units.Millis(s.P95), units.Millis(s.P99), s.N)},
		Advice:   "judge by percentiles; look for a long prompt or answer, a slow replica, or preemption",
	}
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
		return fmt.Sprintf("has an answer of %d tokens, the mean is %s", q.OutTokens, units.Whole(l.outMean))
	case l.maxGap >= total/2:
		return "stood still for " + units.Millis(l.maxGap)
	case q.Streamed && q.Chunks > 1:
		return "got its tokens slowly throughout"
	}
	return ""
}
