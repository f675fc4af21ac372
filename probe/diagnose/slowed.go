package diagnose

import (
	"fmt"
	"slices"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// checkAnswerGrowth finds decoding that slows down along an answer.
func checkAnswerGrowth(h *history) (outcome, Verdict) {
	const most = 50 // sorting every gap of a fast server would take its time
	level := h.now().Load.Level
	var ratios []float64 // last quarter over second quarter
	for _, q := range h.newest(most) {
		if q.Level != level || level == 0 || len(q.GapsMS) < growthGaps {
			continue
		}
		quarter := len(q.GapsMS) / 4
		early, late := medianGap(q.GapsMS[quarter:2*quarter]), medianGap(q.GapsMS[3*quarter:])
		if early > 0 {
			ratios = append(ratios, late/early)
		}
	}
	n := len(ratios)
	if n < growthFewest {
		return unclear, Verdict{}
	}
	slices.Sort(ratios)
	// Four of five must agree: one request among others that came and went
	// shows the others' changes, not its own growth.
	return when(ratios[n/2] >= growthRise && ratios[n/5] >= growthRiseOfMost, func() Verdict {
		return Verdict{
			Severity: Info,
			Text:     fmt.Sprintf("gaps grow along an answer: %s longer at its end than early on", units.Ratio(ratios[n/2])),
			Evidence: []string{fmt.Sprintf("median gap of the last quarter over that of the second, %d requests", n)},
			Advice:   "expected where attention over a long KV cache takes a large part of a step",
		}
	})
}

// checkSlowed finds that the server became slower while we requested the same of it.
func checkSlowed(h *history) (outcome, Verdict) {
	asked := h.now().Load.Requested
	// An open loop has more in flight at times, by chance.
	tpotTimes, ttftTimes := slowedTPOT, slowedTTFT
	if asked.Rate > 0 {
		tpotTimes, ttftTimes = slowedTPOTOpen, slowedTTFTOpen
	}
	tpot, ttft := h.lately((*measure.Request).TPOT), h.lately((*measure.Request).TTFT)
	switch {
	case tpot.N >= enough && h.best.tpot > 0 && tpot.P50 >= max(tpotTimes*h.best.tpot, h.best.tpot+slowedTPOTByMS):
		return holds, slowed("TPOT", h.best.tpot, tpot)
	case asked.InputTokens > 0 && // prompts of a file may come longer
		ttft.N >= enough && h.best.ttft > 0 && ttft.P50 >= max(ttftTimes*h.best.ttft, h.best.ttft+slowedTTFTByMS):
		return holds, slowed("TTFT", h.best.ttft, ttft)
	case h.best.ttft == 0:
		return unclear, Verdict{}
	}
	return absent, Verdict{}
}

func slowed(name string, before float64, now measure.Summary) Verdict {
	return Verdict{
		Severity: Info,
		Text:     fmt.Sprintf("slower than before at the same load: %s %s, was %s (%s)", name, units.Millis(now.P50), units.Millis(before), units.Ratio(now.P50/before)),
		Evidence: []string{fmt.Sprintf("medians of the newest %d requests and of the best ten seconds since the load was set", now.N)},
		Advice:   "look for other load on the server, a throttled GPU, a busy host, or another replica that answers now",
	}
}
