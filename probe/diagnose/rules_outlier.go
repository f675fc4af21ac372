package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
)

// outlier finds that averages hide a request or a few that took many times as long
// as the others since the load was set: percentiles of a hundred do not show one.
type outlier struct {
	run measure.Summary
	longRun
	late time.Duration // since the slowest ended
}

func (r *outlier) check(h *history) outcome {
	if r.longRun = h.run; r.e2e == nil {
		return unclear
	}
	r.run, r.late = r.e2e.Summary(), h.run.ago(h.now().At)
	return farOut(r.run)
}

// farOut tells that the slowest of all took many times as long as the others, and
// that it matters: the longer all goes well, the less a single one does.
func farOut(e2e measure.Summary) outcome {
	const fewest, far, apart, weight = 20, 10, 1000, 1.3 // apart in ms
	if e2e.N < fewest {
		return unclear
	}
	return found(e2e.Max >= far*e2e.P50 && e2e.Max-e2e.P50 >= apart && e2e.Mean >= weight*e2e.P50)
}

// Tail judges the E2E of a whole run, with requests that ended after its last
// Frame: whether one or a few of them took many times as long as the others.
func Tail(e2e measure.Summary) (v Verdict, ok bool) {
	if farOut(e2e) != holds {
		return Verdict{}, false
	}
	v = (&outlier{run: e2e}).verdict()
	v.Rule = RuleE2ETail
	return v, true
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
		Severity: Warn,
		Text: fmt.Sprintf("a tail: E2E max %s is %s the p50 of %s, so the mean of %s misleads",
			millis(r.run.Max), times(r.run.Max/r.run.P50), millis(r.run.P50), millis(r.run.Mean)),
		Evidence: []string{fmt.Sprintf("p95 %s, p99 %s, n %d since the load was set", millis(r.run.P95), millis(r.run.P99), r.run.N)},
		Advice:   "judge by percentiles; look for a long prompt or answer, a slow replica, or preemption",
	}
	if why := r.why(); why != "" {
		v.Evidence = append([]string{"of the slowest: " + why}, v.Evidence...)
	}
	if r.late >= past {
		v.Severity = Info
		v.Evidence = append(v.Evidence, fmt.Sprintf("it ended %s ago", wholeSeconds(r.late)))
	}
	return v
}
