package doctor

import (
	"fmt"
	"math"
	"slices"
)

// fineMS is an error that no gap of an engine hides: one percent of the fastest
// decoding that one meets.
const fineMS = 0.1

// worst are the largest errors of all rounds with up to a number of streams.
type worst struct {
	streams   int
	gap, ttft float64 // ms, p99
}

// budget says in words how right the measurement is.
func (c *Calibration) budget() []string {
	var lines []string
	if upTo := c.worstUpTo(); len(upTo) > 0 {
		fine := upTo[0]
		limit := max(fineMS, 2*fine.gap) // where nothing is fine, about as good as the best
		for _, w := range upTo {
			if w.gap <= limit {
				fine = w
			}
		}
		lines = append(lines, fine.says()+" on this machine.")
		if most := upTo[len(upTo)-1]; most.streams != fine.streams {
			lines = append(lines, most.says()+".")
		}
	}
	if c.HighestTokensPerS.OK {
		line := fmt.Sprintf("%s tokens/s over %d streams are followed", thousands(c.HighestTokensPerS.V), rampStreams)
		if c.Limit != "" {
			line += "; beyond that " + c.Limit
		}
		lines = append(lines, line+".")
	} else if c.Limit != "" {
		lines = append(lines, "No rate that was tried is followed: "+c.Limit+".")
	}
	return lines
}

// worstUpTo has an entry per number of streams, fewest first.
func (c *Calibration) worstUpTo() []worst {
	rounds := slices.Clone(c.Rounds)
	slices.SortStableFunc(rounds, func(a, b RoundErrors) int { return a.Streams - b.Streams })
	var upTo []worst
	var w worst
	for _, r := range rounds {
		if !r.Gap.P99.OK || !r.TTFT.P99.OK {
			continue
		}
		w = worst{r.Streams, max(w.gap, r.Gap.P99.V), max(w.ttft, r.TTFT.P99.V)}
		if n := len(upTo); n > 0 && upTo[n-1].streams == r.Streams {
			upTo[n-1] = w
		} else {
			upTo = append(upTo, w)
		}
	}
	return upTo
}

func (w worst) says() string {
	return fmt.Sprintf("Gaps are right to %s and TTFT to %s (p99) up to %s streams", roundedUp(w.gap), roundedUp(w.ttft), thousands(float64(w.streams)))
}

// roundedUp writes milliseconds with two digits, never less than they are.
func roundedUp(ms float64) string {
	unit := 0.01
	for ms >= 100*unit {
		unit *= 10
	}
	digits := 2
	if unit > 0.09 {
		digits = 1
	}
	if unit > 0.9 {
		digits = 0
	}
	// A hair off, so that 0.05 stays 0.05 in spite of its binary form.
	return fmt.Sprintf("%.*f ms", digits, max(0, math.Ceil(ms/unit-1e-9))*unit)
}
