package crew

import (
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
)

// part is the nth of several workers' share of a load, and how much later than the others it begins. The
// parts add up to the load.
func part(l frame.Load, nth, of int) (frame.Load, time.Duration) {
	share := l
	share.Concurrency = l.Concurrency / of
	if nth < l.Concurrency%of {
		share.Concurrency++
	}
	if l.Rate <= 0 {
		return share, 0
	}
	// Arrivals of several schedules together: Poisson ones are Poisson again; constant ones are
	// constant if each schedule begins one interval after the one before it.
	share.Rate, share.Ramp.From = l.Rate/float64(of), l.Ramp.From/float64(of)
	return share, time.Duration(float64(nth) / l.Rate * float64(time.Second))
}

// rest is what is left of a load's ramp after a time.
func rest(l frame.Load, after time.Duration) frame.Load {
	if r := l.Schedule(); after < r.Over {
		l.Ramp = arrivals.Ramp{From: r.At(after), Over: r.Over - max(0, after)}
	} else {
		l.Ramp = arrivals.Ramp{}
	}
	return l
}

// budgets divides requests that may still begin among workers that have begun some already: what
// each may have begun in the end.
func budgets(left int64, begun []int64) []int64 {
	out := make([]int64, len(begun))
	for i := range out {
		share := left / int64(len(begun))
		if int64(i) < left%int64(len(begun)) {
			share++
		}
		out[i] = begun[i] + share
	}
	return out
}
