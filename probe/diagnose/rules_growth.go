package diagnose

import (
	"fmt"
	"slices"
)

// answerGrowth finds decoding that slows down along an answer.
type answerGrowth struct {
	ratio float64 // last quarter over second quarter, median of requests
	n     int
}

func (r *answerGrowth) check(h *history) outcome {
	const fewestGaps, fewest, rise = 64, 5, 1.3
	const most = 50 // sorting every gap of a fast server would take its time
	level := h.now().Load.Level
	var ratios []float64
	for _, q := range h.newest(most) {
		if q.Level != level || level == 0 || len(q.GapsMS) < fewestGaps {
			continue
		}
		quarter := len(q.GapsMS) / 4
		early := median(q.GapsMS[quarter : 2*quarter])
		late := median(q.GapsMS[3*quarter:])
		if early > 0 {
			ratios = append(ratios, late/early)
		}
	}
	r.n = len(ratios)
	if r.n < fewest {
		return unclear
	}
	slices.Sort(ratios)
	r.ratio = ratios[r.n/2]
	// Four of five must agree: one request among others that came and went
	// shows the others' changes, not its own growth.
	return found(r.ratio >= rise && ratios[r.n/5] >= 1.1)
}

func median(gaps []float32) float64 {
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	return float64(sorted[len(sorted)/2])
}

func (r *answerGrowth) verdict() Verdict {
	return Verdict{
		Severity: Info,
		Text:     fmt.Sprintf("gaps grow along an answer: %s longer at its end than early on", times(r.ratio)),
		Evidence: []string{fmt.Sprintf("median gap of the last quarter over that of the second, %d requests", r.n)},
		Advice:   "expected where attention over a long KV cache takes a large part of a step",
	}
}
