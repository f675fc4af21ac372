package diagnose

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// pathDelay finds time that is lost between us and the engine.
type pathDelay struct {
	ours, engines float64 // mean TTFT, ms
	n             int
}

func (r *pathDelay) check(h *history) outcome {
	const fewest, ratio, least = 20, 2, 100 // requests; times; ms
	ours := h.atLoad().ttft
	r.n = ours.N
	frames, _ := h.last(min(keep, h.now().At-h.since))
	gain := gained(h.readings(frames), func(e *engine.Reading) engine.Histogram { return e.TTFT })
	// Only if the engine counted about as many requests as we did are they the
	// same requests.
	if r.n < fewest || gain.Count < 0.75*float64(r.n) || gain.Count > 1.25*float64(r.n) {
		return unclear
	}
	r.ours, r.engines = ours.Mean, 1000*gain.Sum/gain.Count
	// The median, too: a single request that was lost for a minute is a tail.
	low := min(r.ours, ours.P50)
	return found(low >= ratio*r.engines && low >= r.engines+least)
}

func (r *pathDelay) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("TTFT is %s here and %s by the engine's own account: the rest is lost on the way",
			millis(r.ours), millis(r.engines)),
		Evidence: []string{fmt.Sprintf("means over %d requests; connecting is not in TTFT", r.n)},
		Advice:   "look at the network, the gateway and the API process in front of the engine",
	}
}

// meanGain is the mean, in seconds, of what a histogram gained over readings.
func meanGain(list []*engine.Reading, pick func(*engine.Reading) engine.Histogram) opt.Float {
	gain := gained(list, pick)
	if gain.Count <= 0 {
		return opt.Float{}
	}
	return opt.Of(gain.Sum / gain.Count)
}

// gained is what a histogram gained from the first to the last reading; empty if
// the engine restarted in between, or another one was looked at.
func gained(list []*engine.Reading, pick func(*engine.Reading) engine.Histogram) engine.Histogram {
	if len(list) < 2 {
		return engine.Histogram{}
	}
	for i, r := range list[1:] {
		if !r.Follows(list[i]) {
			return engine.Histogram{}
		}
	}
	return pick(list[len(list)-1]).Sub(pick(list[0]))
}
