package sweep

import "fmt"

const (
	failedMuch   = 0.1  // share of requests from which a load is too much
	failedAtOnce = 5    // failures that are no chance
	noRise       = 1.05 // times the throughput at a load that is smaller
	muchSmaller  = 1.5  // times
	explodes     = 3.0  // times the TTFT p95 of the best level below
	fullCap      = 0.95
	behindRate   = 0.85 // of the asked rate
	few          = 10   // requests that a judgement takes
)

// tooMuch tells why no larger load need be tried than that of a row; "" if one may.
func tooMuch(r *Row, curve []Row) string {
	switch {
	case r.failsMuch():
		return fmt.Sprintf("%d of %d requests failed at %s", r.Failed, r.OK+r.Failed, Describe(r.Load))
	case r.ClientBound:
		return fmt.Sprintf("this client is the bottleneck at %s: %s", Describe(r.Load), r.ClientWhy)
	case r.Load.Rate > 0:
		return behind(r)
	}
	return flat(r, curve)
}

// failsMuch tells that a load is too much by the requests that fail.
func (r *Row) failsMuch() bool { return r.Failed >= failedAtOnce && r.ErrorShare().V > failedMuch }

// behind finds an open loop that gets more than is served.
func behind(r *Row) string {
	switch {
	case r.InFlight.Or(0) >= fullCap*float64(r.Load.Concurrency):
		return fmt.Sprintf("at %s all %d streams that are allowed are in flight", Describe(r.Load), r.Load.Concurrency)
	case r.N() >= few && r.RequestsPerS.OK && r.RequestsPerS.V < behindRate*r.Load.Rate:
		return fmt.Sprintf("only %s of %s are served", number(r.RequestsPerS.V), Describe(r.Load))
	}
	return ""
}

// flat finds a load at which throughput rises no more while the wait explodes.
func flat(r *Row, curve []Row) string {
	if r.N() < few || !r.OutTokensPerS.OK {
		return ""
	}
	for i := range curve {
		b := &curve[i]
		if muchSmaller*b.Amount() > r.Amount() || b.N() < few || !b.OutTokensPerS.OK {
			continue
		}
		if r.OutTokensPerS.V < noRise*b.OutTokensPerS.V && r.TTFT.P95 > explodes*b.TTFT.P95 {
			return fmt.Sprintf("overload at %s: %s tok/s, no more than at %s, and TTFT p95 %s instead of %s ms",
				Describe(r.Load), number(r.OutTokensPerS.V), Describe(b.Load), number(r.TTFT.P95), number(b.TTFT.P95))
		}
	}
	return ""
}
