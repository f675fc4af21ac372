package sweep

import (
	"time"

	"sonde/probe/level"
	"sonde/probe/slo"
)

// How long a level is held.
const (
	shortestHold  = 4 * time.Second  // after it has settled
	shortestOpen  = 12 * time.Second // … at a rate: random arrivals come in crowds
	usualLimit    = 30 * time.Second
	settlingTime  = 8 * time.Second
	wholeRequests = 3 // mean lengths of a request that a level is held at least
	requestsLong  = 5 // … and that it may last
	patience      = 5 // times the limit, while no request has ended at all

	longestForSLOs = 45 * time.Second // for samples that SLOs take
	samplesToClimb = 20               // a p95 of a kind
	shortClimb     = 6 * time.Second  // long enough where requests are few
	fewToClimb     = 5
	samplesToShow  = 100 // from where a p99 means something
	sampleReserve  = 1.5 // times the samples that an SLO takes which no sample misses
	lookAgainAfter = 1.5 // times the samples of the last look at the SLOs
)

// hold follows one level while it is on.
type hold struct {
	step    step
	slos    []slo.Target
	limit   time.Duration // as the plan has it; 0 is automatic
	meanE2E time.Duration // of a request, as far as is known from levels before
	looked  int           // samples at the last look
	verdict slo.Verdict   // at that look
}

// deadline is how long the level may last.
func (h *hold) deadline(visit *level.Level) time.Duration {
	if h.limit > 0 {
		return h.limit
	}
	limit := max(usualLimit, settlingTime+turns(visit, requestsLong)*cycle(visit, max(h.meanE2E, meanE2E(visit))))
	if visit.OK == 0 && visit.Failed == 0 {
		return patience * limit
	}
	return max(limit, h.samplingTime(visit))
}

// meanE2E is of the requests that succeeded; 0 without one.
func meanE2E(l *level.Level) time.Duration {
	return time.Duration(l.E2E.Mean * float64(time.Millisecond))
}

// samplingTime is how long it takes to gather what the SLOs need, within reason.
func (h *hold) samplingTime(visit *level.Level) time.Duration {
	if h.step.purpose != Given && h.step.purpose != Confirming || visit.RequestsPerS.Or(0) <= 0 {
		return 0
	}
	seconds := sampleReserve * float64(needed(h.slos)) / visit.RequestsPerS.V
	return settlingTime + min(time.Duration(seconds*float64(time.Second)), longestForSLOs)
}

// needed is how many requests the most demanding of the SLOs takes.
func needed(targets []slo.Target) int {
	n := 0
	for i := range targets {
		n = max(n, targets[i].Enough())
	}
	return n
}

// done reports whether the level has shown what it was tried for. visit is what this visit
// gathered, total all visits; lasted is since the load was set.
func (h *hold) done(visit, total *level.Level, lasted time.Duration) bool {
	if lasted >= h.deadline(visit) {
		return true
	}
	if visit.FailsMuch() && visit.Held >= shortestHold {
		return true // waiting longer brings more errors
	}
	if !visit.Settled || visit.Held < h.shortest(visit) {
		return false
	}
	return h.enough(visit, total)
}

// shortest is how long a settled level is held at least: requests that are longer than the
// stretch would be missing from its figures.
func (h *hold) shortest(visit *level.Level) time.Duration {
	least := shortestHold
	if visit.Load.Rate > 0 {
		least = shortestOpen
	}
	return max(least, turns(visit, wholeRequests)*cycle(visit, meanE2E(visit)))
}

// turns is how many requests of one stream a level holds: at least so many, and those of a
// conversation, whose later turns are unlike the first.
func turns(visit *level.Level, least time.Duration) time.Duration {
	return max(least, time.Duration(min(visit.Load.Turns, level.MostTurns)))
}

// cycle is the time from one request of a stream to its next.
func cycle(visit *level.Level, e2e time.Duration) time.Duration {
	if visit.Load.Rate > 0 {
		return e2e
	}
	return e2e + visit.Load.Think
}

// enough reports whether there are samples enough. SLOs are judged anew only
// after a good part more of samples: looking all the time would find by chance what
// is not there.
func (h *hold) enough(visit, total *level.Level) bool {
	if len(h.slos) > 0 && (h.looked == 0 || float64(total.OK) >= lookAgainAfter*float64(h.looked)) && total.OK >= few {
		h.looked, h.verdict = total.OK, total.Verdict()
	}
	switch {
	case h.step.purpose == Climbing || h.step.purpose == AtKnee:
		return total.OK >= samplesToClimb || total.OK >= fewToClimb && visit.Held >= shortClimb
	case len(h.slos) > 0:
		return h.verdict.Decided()
	}
	return total.OK >= samplesToShow
}
