package sweep

import (
	"time"

	"sonde/probe/level"
	"sonde/probe/slo"
)

// Boundary is where a curve stops meeting the SLOs.
type Boundary struct {
	Judged bool         // some level could be judged
	Best   *level.Level // the largest load that meets them all; nil if none does
	Above  *level.Level // the next larger load that was measured and does not; nil if there is none
}

// FindBoundary splits a curve, smallest load first, into loads that meet the SLOs and loads
// that do not. Where the answers of a noisy service are out of
// order it takes the split that the fewest answers speak against, those with
// confidence counting twice. Of the loads that meet them, one with samples enough for the
// requested percentiles comes before a larger one with too few; how sure the
// verdict on it is stands beside it.
func FindBoundary(curve []level.Level) Boundary {
	judged := judgedLevels(curve)
	split := splitOf(judged)
	b := Boundary{Judged: len(judged) > 0}
	for i := split - 1; i >= 0 && b.Best == nil; i-- {
		if v := judged[i].Verdict(); v == slo.Meets || v == slo.SeemsMeets && sampled(&judged[i]) {
			b.Best = &judged[i]
		}
	}
	for i := split - 1; i >= 0 && b.Best == nil; i-- {
		if judged[i].Verdict() == slo.SeemsMeets {
			b.Best = &judged[i]
		}
	}
	for i := range judged[split:] {
		if l := &judged[split+i]; b.Above == nil && !l.Verdict().Met() {
			b.Above = l
		}
	}
	return b
}

// unsettledLong is how long a level that does not settle has to be held to count at all.
const unsettledLong = 10 * time.Second

// sampled reports whether a level has samples enough for every SLO.
func sampled(l *level.Level) bool {
	for i := range l.SLOs {
		if r := &l.SLOs[i]; r.N < r.Target.Enough() {
			return false
		}
	}
	return true
}

func judgedLevels(curve []level.Level) []level.Level {
	var out []level.Level
	for i := range curve {
		if l := &curve[i]; l.Verdict() != slo.NotJudged && (l.Settled || l.Held >= unsettledLong || l.FailsMuch()) {
			out = append(out, *l)
		}
	}
	return out
}

// splitOf is how many of the levels, from the smallest load on, are taken to meet the SLOs.
func splitOf(levels []level.Level) int {
	against := 0 // answers that speak against the split at 0: all that meet
	for i := range levels {
		if v := levels[i].Verdict(); v.Met() {
			against += weight(v)
		}
	}
	best, least := 0, against
	for i := range levels {
		if v := levels[i].Verdict(); v.Met() {
			against -= weight(v)
		} else {
			against += weight(v)
		}
		if against < least {
			best, least = i+1, against
		}
	}
	return best
}

func weight(v slo.Verdict) int {
	if v.Decided() {
		return 2
	}
	return 1
}
