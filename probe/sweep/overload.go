package sweep

import "sonde/probe/level"

const (
	noRise      = 1.05 // times the throughput at a load that is smaller
	muchSmaller = 1.5  // times
	explodes    = 3.0  // times the TTFT p95 of the best level below
	fullCap     = 0.95
	behindRate  = 0.85 // of the requested rate
	few         = 10   // requests that a judgement takes
)

// TooMuch says why no larger load need be tried than that of a level.
type TooMuch struct {
	Reason TooMuchReason
	At     level.Level
	Below  level.Level // Overload: the smaller load that brings as much
}

// TooMuchReason is how a load shows that it is too much.
type TooMuchReason int

// Reasons.
const (
	NotTooMuch   TooMuchReason = iota
	RequestsFail               // a good part of the requests fails
	ClientBehind               // this client is the bottleneck
	CapInFlight                // an open loop has all streams in flight that it may have
	NotServed                  // an open loop gets more than is served
	Overload                   // throughput rises no more, and the wait explodes
)

// tooMuch judges a level by the curve around it.
func tooMuch(l *level.Level, curve []level.Level) TooMuch {
	t := TooMuch{At: *l}
	switch {
	case l.FailsMuch():
		t.Reason = RequestsFail
	case l.Client.Behind > clientBound:
		t.Reason = ClientBehind
	case l.Load.Rate > 0:
		t.Reason = behind(l)
	default:
		if b := flat(l, curve); b != nil {
			t.Reason, t.Below = Overload, *b
		}
	}
	return t
}

// behind finds an open loop that gets more than is served.
func behind(l *level.Level) TooMuchReason {
	switch {
	case l.InFlight.Or(0) >= fullCap*float64(l.Load.Concurrency):
		return CapInFlight
	case l.OK >= few && l.RequestsPerS.OK && l.RequestsPerS.V < behindRate*l.Load.Rate:
		return NotServed
	}
	return NotTooMuch
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
