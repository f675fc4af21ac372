package diagnose

import (
	"fmt"
	"slices"

	"sonde/probe"
	"sonde/probe/opt"
)

// slowDecode finds tokens that come slowly although the first one does not.
type slowDecode struct {
	ttft, tpot  float64 // p50, ms
	running, kv opt.Float
}

func (r *slowDecode) check(h *history) outcome {
	const slowTPOT, normalTTFT = 100, 1000 // ms: ten tokens per second; a second before anything is seen
	_, ok := h.steady(recent)
	c := &h.now().Client
	if !ok || c.TPOT.N < enough || c.TTFT.N < enough {
		return unclear
	}
	r.ttft, r.tpot, r.kv = c.TTFT.P50, c.TPOT.P50, fullest(h.now())
	if e, ok := reading(h.now()); ok {
		r.running = e.Running
	}
	return found(r.tpot >= slowTPOT && r.ttft < normalTTFT)
}

func (r *slowDecode) verdict() Verdict {
	evidence := []string{fmt.Sprintf("p50 of TPOT %s, of TTFT %s", millis(r.tpot), millis(r.ttft))}
	if r.running.OK && r.kv.OK {
		evidence = append(evidence, fmt.Sprintf("the engine runs %s requests at once, KV cache %s full", count(r.running.V), percent(r.kv.V)))
	}
	return Verdict{
		Level:    Note,
		Says:     fmt.Sprintf("decoding is slow, the first token is not: TPOT %s, %.1f tokens/s for each stream", millis(r.tpot), 1000/r.tpot),
		Evidence: evidence,
		Advice:   "look at the batch size, memory bandwidth, the KV cache's length, and communication between GPUs",
	}
}

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
		Level:    Note,
		Says:     fmt.Sprintf("gaps grow along an answer: %s longer at its end than early on", times(r.ratio)),
		Evidence: []string{fmt.Sprintf("median gap of the last quarter over that of the second, %d requests", r.n)},
		Advice:   "expected where attention over a long KV cache takes a large part of a step",
	}
}

// pastKnee finds more streams bringing no more tokens.
type pastKnee struct{ before, after levelPoint }

func (r *pastKnee) check(h *history) outcome {
	n := len(h.levels)
	if n < 2 || h.justChanged() || h.levels[n-1].level != h.now().Load.Level {
		return unclear
	}
	r.after = h.levels[n-1]
	compared := false
	for _, p := range h.levels[:n-1] {
		if moreStreams(p.load, r.after.load) && (!compared || p.load.Concurrency > r.before.load.Concurrency) {
			r.before, compared = p, true
		}
	}
	if !compared {
		return unclear
	}
	return found(r.after.outTokensPerS < 1.1*r.before.outTokensPerS)
}

// moreStreams tells whether b asks for the same as a, but for at least half as
// many streams again.
func moreStreams(a, b probe.Load) bool {
	return a.Rate == 0 && b.Rate == 0 && a.InputTokens == b.InputTokens && a.OutputTokens == b.OutputTokens &&
		a.Concurrency > 0 && 2*b.Concurrency >= 3*a.Concurrency
}

func (r *pastKnee) verdict() Verdict {
	a, b := &r.before, &r.after
	return Verdict{
		Level: Warn,
		Says: fmt.Sprintf("past the knee: from %d to %d streams output went from %s to %s tokens/s",
			a.load.Concurrency, b.load.Concurrency, count(a.outTokensPerS), count(b.outTokensPerS)),
		Evidence: []string{fmt.Sprintf("TTFT p95 went from %s to %s; both levels settled", millis(a.ttftP95), millis(b.ttftP95))},
		Advice:   fmt.Sprintf("more than %d streams only add waiting", a.load.Concurrency),
	}
}
