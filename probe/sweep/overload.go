package sweep

import (
	"fmt"

	"sonde/probe/level"
	"sonde/probe/units"
)

const (
	noRise      = 1.05 // times the throughput at a load that is smaller
	muchSmaller = 1.5  // times
	explodes    = 3.0  // times the TTFT p95 of the best level below
	fullCap     = 0.95
	behindRate  = 0.85 // of the requested rate
	few         = 10   // requests that a judgement takes
)

// tooMuch says why no larger load need be tried than that of a level, by the curve around it;
// "" if there is no reason.
func tooMuch(l *level.Level, curve []level.Level) string {
	load := Describe(l.Load)
	switch {
	case l.FailsMuch():
		return fmt.Sprintf("%d of %d requests failed at %s", l.Failed, l.OK+l.Failed, load)
	case l.Client.Behind > clientBound:
		return fmt.Sprintf("this client is the bottleneck at %s: %s", load, l.Client.BehindWhy)
	case l.Load.Rate > 0:
		return behind(l)
	}
	b := flat(l, curve)
	if b == nil {
		return ""
	}
	return fmt.Sprintf("overload at %s: %s tok/s, no more than at %s, and TTFT p95 %s instead of %s ms",
		load, units.Known(l.OutTokensPerS, units.Digits3), Describe(b.Load), units.Digits3(l.TTFT.P95), units.Digits3(b.TTFT.P95))
}

// behind says how an open loop gets more than is served; "" if it does not.
func behind(l *level.Level) string {
	switch {
	case l.InFlight.Or(0) >= fullCap*float64(l.Load.Concurrency):
		return fmt.Sprintf("at %s all %d streams that are allowed are in flight", Describe(l.Load), l.Load.Concurrency)
	case l.OK >= few && l.RequestsPerS.OK && l.RequestsPerS.V < behindRate*l.Load.Rate:
		return fmt.Sprintf("only %s of %s are served", units.Digits3(l.RequestsPerS.V), Describe(l.Load))
	}
	return ""
}

// flat finds a smaller load that brings as much throughput while the wait has not exploded;
// nil if there is none.
func flat(l *level.Level, curve []level.Level) *level.Level {
	if l.OK < few || !l.OutTokensPerS.OK {
		return nil
	}
	for i := range curve {
		b := &curve[i]
		if muchSmaller*b.Amount() > l.Amount() || b.OK < few || !b.OutTokensPerS.OK {
			continue
		}
		if l.OutTokensPerS.V < noRise*b.OutTokensPerS.V && l.TTFT.P95 > explodes*b.TTFT.P95 {
			return b
		}
	}
	return nil
}
