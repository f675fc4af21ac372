package sweep

import "time"

// How long a level is held.
const (
	shortestHold  = 4 * time.Second  // after it has settled
	shortestOpen  = 12 * time.Second // … at a rate: random arrivals come in crowds
	usualLimit    = 30 * time.Second
	settlingTime  = 8 * time.Second
	wholeRequests = 3 // mean lengths of a request that a level is held at least
	requestsLong  = 5 // … and that it may last
	patience      = 5 // times the limit, as long as no request has ended at all

	longestForSLOs = 45 * time.Second // for samples that service levels take
	samplesToClimb = 20               // a p95 of a kind
	shortClimb     = 6 * time.Second  // long enough where requests are few
	fewToClimb     = 5
	samplesToShow  = 100 // from where a p99 means something
	sampleReserve  = 1.5 // times the samples that a level takes which nobody misses
	lookAgainAfter = 1.5 // times the samples of the last look at the service levels
)

// hold follows one level while it is on.
type hold struct {
	step    step
	limit   time.Duration // as the plan has it; 0 is automatic
	meanE2E time.Duration // of a request, as far as is known from levels before
	looked  int           // samples at the last look
	verdict Verdict       // at that look
}

// deadline is how long the level may last.
func (h *hold) deadline(visit *Row) time.Duration {
	if h.limit > 0 {
		return h.limit
	}
	e2e := max(h.meanE2E, time.Duration(visit.E2E.Mean*float64(time.Millisecond)))
	limit := max(usualLimit, settlingTime+requestsLong*e2e)
	if visit.N() == 0 && visit.Failed == 0 {
		return patience * limit
	}
	return max(limit, h.samplingTime(visit))
}

// samplingTime is how long it takes to gather what the service levels need, within reason.
func (h *hold) samplingTime(visit *Row) time.Duration {
	if h.step.purpose != Given && h.step.purpose != Confirming || visit.RequestsPerS.Or(0) <= 0 {
		return 0
	}
	seconds := sampleReserve * float64(needed(visit.SLOs)) / visit.RequestsPerS.V
	return settlingTime + min(time.Duration(seconds*float64(time.Second)), longestForSLOs)
}

// needed is how many requests the most demanding of the levels takes.
func needed(results []SLOResult) int {
	n := 0
	for _, r := range results {
		n = max(n, Enough(share(r.SLO), DefaultConfidence))
	}
	return n
}

// done tells whether the level has told what it was tried for. visit is what this visit
// gathered, total all visits; lasted is since the load was set.
func (h *hold) done(visit, total *Row, lasted time.Duration) bool {
	if lasted >= h.deadline(visit) {
		return true
	}
	if visit.Failed >= failedAtOnce && visit.ErrorShare().V > failedMuch && visit.Held >= shortestHold {
		return true // waiting longer brings more errors
	}
	if !visit.Settled || visit.Held < h.shortest(visit) {
		return false
	}
	return h.enough(visit, total)
}

// shortest is how long a settled level is held at least: requests that are longer than the
// stretch would be missing from its figures.
func (h *hold) shortest(visit *Row) time.Duration {
	least := shortestHold
	if visit.Load.Rate > 0 {
		least = shortestOpen
	}
	return max(least, wholeRequests*time.Duration(visit.E2E.Mean*float64(time.Millisecond)))
}

// enough tells whether there are samples enough. Service levels are looked at anew only
// after a good part more of samples: looking all the time would find by chance what
// is not there.
func (h *hold) enough(visit, total *Row) bool {
	if len(total.SLOs) > 0 && (h.looked == 0 || float64(total.N()) >= lookAgainAfter*float64(h.looked)) && total.N() >= few {
		h.looked, h.verdict = total.N(), total.Verdict()
	}
	switch {
	case h.step.purpose == Climbing || h.step.purpose == AtKnee:
		return total.N() >= samplesToClimb || total.N() >= fewToClimb && visit.Held >= shortClimb
	case len(total.SLOs) > 0:
		return h.verdict.Decided()
	}
	return total.N() >= samplesToShow
}
