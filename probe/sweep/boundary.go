package sweep

import (
	"fmt"
	"time"

	"sonde/probe/opt"
)

// Boundary is where a curve stops meeting the service levels.
type Boundary struct {
	Best  *Row // the largest load that meets them all; nil if none does
	Above *Row // the next larger load that was measured and does not; nil if there is none
	// Confidence is how sure it is that Best meets every level.
	Confidence opt.Float
	Says       string
}

// FindBoundary splits a curve, smallest load first, into loads that meet the service
// levels and loads that do not. Where the answers of a noisy service are out of
// order it takes the split that the fewest answers speak against, those with
// confidence counting twice. Of the loads that meet them, one with samples enough for the
// percentiles that are asked comes before a larger one with too few; how sure the
// verdict on it is stands beside it.
func FindBoundary(curve []Row) Boundary {
	judged := judgedRows(curve)
	split := splitOf(judged)
	b := Boundary{}
	for i := split - 1; i >= 0 && b.Best == nil; i-- {
		if v := judged[i].Verdict(); v == Meets || v == SeemsMeets && sampled(&judged[i]) {
			b.Best = &judged[i]
		}
	}
	for i := split - 1; i >= 0 && b.Best == nil; i-- {
		if judged[i].Verdict() == SeemsMeets {
			b.Best = &judged[i]
		}
	}
	for i := range judged[split:] {
		if r := &judged[split+i]; b.Above == nil && !r.Verdict().Met() {
			b.Above = r
		}
	}
	if b.Best != nil {
		b.Confidence = Confidence(b.Best.SLOs)
	}
	b.Says = b.sentence(len(judged) > 0)
	return b
}

// unsettledLong is how long a level that does not settle has to be held to count at all.
const unsettledLong = 10 * time.Second

// sampled tells whether a row has samples enough for every level.
func sampled(r *Row) bool {
	for _, s := range r.SLOs {
		if s.N < Enough(share(s.SLO), DefaultConfidence) {
			return false
		}
	}
	return true
}

func judgedRows(curve []Row) []Row {
	var out []Row
	for _, r := range curve {
		if r.Verdict() != NotJudged && (r.Settled || r.Held >= unsettledLong || r.failsMuch()) {
			out = append(out, r)
		}
	}
	return out
}

// splitOf is how many of the rows, from the smallest load on, are taken to meet the
// levels.
func splitOf(rows []Row) int {
	against := 0 // answers that speak against the split at 0: all that meet
	for i := range rows {
		if v := rows[i].Verdict(); v.Met() {
			against += weight(v)
		}
	}
	best, least := 0, against
	for i := range rows {
		if v := rows[i].Verdict(); v.Met() {
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

func weight(v Verdict) int {
	if v.Decided() {
		return 2
	}
	return 1
}

// Confidence is that of the least sure level; unknown if one has none.
func Confidence(results []SLOResult) opt.Float {
	var least opt.Float
	for i, r := range results {
		if !r.Confidence.OK {
			return opt.Float{}
		}
		if i == 0 || r.Confidence.V < least.V {
			least = r.Confidence
		}
	}
	return least
}

func (b *Boundary) sentence(any bool) string {
	switch {
	case !any:
		return "no level could be judged: no request ended after a level had settled"
	case b.Best == nil && b.Above != nil:
		return fmt.Sprintf("no load meets the service levels: %s%s", does(b.Above.Load, "miss", "es"), missed(b.Above))
	case b.Best == nil:
		return "no load meets the service levels"
	}
	says := does(b.Best.Load, "meet", "s") + " all service levels" + sureness(b.Best, b.Confidence)
	if b.Above == nil {
		return says + "; no larger load that was measured misses them"
	}
	return says + fmt.Sprintf("; %s%s", does(b.Above.Load, "miss", "es"), missed(b.Above))
}

// sureness is the confidence in words.
func sureness(r *Row, c opt.Float) string {
	switch {
	case c.OK && sampled(r):
		return fmt.Sprintf(" (confidence %.0f %%)", 100*min(c.V, 0.994))
	case c.OK:
		return fmt.Sprintf(" by its samples, which are too few to be sure (confidence %.0f %%)", 100*c.V)
	}
	return " by its samples"
}

// missed names the levels that a row does not meet, with their figures, or how many of its
// requests fail.
func missed(r *Row) string {
	if r.unserved() {
		return fmt.Sprintf(": %d of %d requests failed", r.Failed, r.OK+r.Failed)
	}
	text := ""
	for _, s := range r.SLOs {
		if s.Verdict.Met() {
			continue
		}
		if text != "" {
			text += ","
		}
		text += " " + s.SLO.Text
		if s.Actual.OK {
			text += " (" + actual(&s) + ")"
		}
	}
	return text
}

// actual is the figure that a level was judged by.
func actual(s *SLOResult) string {
	if s.SLO.Metric == metricSuccess {
		return number(100*s.Actual.V) + " %"
	}
	return number(s.Actual.V) + " ms"
}
