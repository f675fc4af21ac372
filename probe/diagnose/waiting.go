package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/opt"
	"sonde/probe/units"
)

// wait is what is known of the time before the first token.
type wait struct {
	ttft, tpot, e2e float64 // p50, ms
	queued          opt.Float
	queue, prefill  opt.Float // the engine's own means, seconds
	own             opt.Float // its mean TTFT, seconds
	kv              opt.Float
	floor           opt.Float // of TTFT, ms
	n               int
	alone           bool // the engine's figures are of our requests alone
}

// waited gathers it; not ok with too few requests.
func waited(h *history) (w wait, ok bool) {
	s := h.atLoad()
	if s.ttft.N < enough || s.tpot.N < enough || s.e2e.N < enough {
		return w, false
	}
	w = wait{ttft: s.ttft.P50, tpot: s.tpot.P50, e2e: s.e2e.P50, n: s.ttft.N, floor: h.now().Roofline.TTFTFloorMS}
	w.queued, w.kv = h.engineMean(recent, waiting), h.engineMean(recent, fullest)
	frames := h.ofLoad()
	list := h.readings(frames)
	w.queue, w.prefill, w.own = meanGain(list, engineQueue), meanGain(list, enginePrefill), meanGain(list, engineTTFT)
	answered := 0
	for _, f := range frames {
		answered += len(f.Client.SliceTTFT)
	}
	counted := gained(list, engineTTFT).Count
	if counted == 0 {
		counted = gained(list, enginePrefill).Count
	}
	w.alone = sameRequests(counted, answered)
	return w, true
}

// sameRequests reports whether the engine counted about as many requests as we did:
// only then they are the same.
func sameRequests(counted float64, ours int) bool {
	return math.Abs(counted-float64(ours)) <= sameCount*float64(ours)
}

// queues reports whether requests stand in the engine's queue all the time.
func (w *wait) queues() bool { return w.queued.OK && w.queued.V >= 1 }

// decodeSlow reports whether the tokens after the first one are slow too.
func (w *wait) decodeSlow(h *history) bool { return slowTPOT(w.tpot, h.now().Roofline.TPOTFloorMS) }

// inEngine is the share of our TTFT that the engine accounts for; unknown if it does
// not report it.
func (w *wait) inEngine() opt.Float {
	if !w.alone {
		return opt.Float{}
	}
	inside := w.own
	if w.queue.OK && w.prefill.OK {
		inside = opt.Of(max(w.own.Or(0), w.queue.V+w.prefill.V))
	}
	return inside.Scale(1000 / w.ttft)
}

// cause says what the time goes into, no more than is known.
func (w *wait) cause() (cause, advice string) {
	inside := w.inEngine()
	switch {
	case inside.OK && inside.V < slowStartInside:
		return "most of it is spent outside the engine", "check the network, the gateway and the API process in front of the engine"
	case w.queues() && w.kv.Or(0) >= slowStartKVFull:
		return "waiting for room in the KV cache", "lower the concurrency or the lengths, or give the KV cache more memory"
	case w.queues() && (!w.prefill.OK || w.queue.Or(0) >= w.prefill.V):
		return "waiting in the engine's queue", "lower the concurrency, raise the engine's limit of sequences, or add replicas"
	case w.queues(), w.queued.OK && inside.OK:
		return "prefill", "shorten prompts, let the prefix cache work, or tune chunked prefill"
	case w.queued.OK:
		return "the engine's queue is empty: prefill, or something before it", "shorten prompts; compare with the engine's own TTFT, or connect to it directly"
	}
	return "waiting or prefill", "enable the engine's metrics to see its queue"
}

func (w *wait) evidence() []string {
	out := []string{fmt.Sprintf("TTFT p50 %s, TPOT p50 %s, n %d", units.Millis(w.ttft), units.Millis(w.tpot), w.n)}
	if w.queued.OK {
		out = append(out, fmt.Sprintf("%.1f requests in the engine's queue on average", w.queued.V))
	}
	if w.queue.OK && w.prefill.OK {
		out = append(out, fmt.Sprintf("the engine reports: queue %s, prefill %s on average", units.Millis(1000*w.queue.V), units.Millis(1000*w.prefill.V)))
	}
	return out
}

// checkSlowStart finds a long wait for the first token while decoding is fine.
func checkSlowStart(h *history) (outcome, Verdict) {
	w, known := waited(h)
	if !known {
		return unclear, Verdict{}
	}
	if h.finds(RuleClumps, checkClumps) || h.finds(RulePathDelay, checkPathDelay) {
		return absent, Verdict{} // the way, not the engine; and behind it decoding is not seen
	}
	slow := w.ttft >= slowTTFTMS && w.ttft >= slowStartShare*w.e2e
	return when(slow && !w.decodeSlow(h), func() Verdict {
		cause, advice := w.cause()
		v := Verdict{
			Severity: Warn, Text: fmt.Sprintf("the first token takes %s, decoding is fine: %s", units.Millis(w.ttft), cause),
			Evidence: w.evidence(), Advice: advice,
		}
		// A prompt that takes about as long as the hardware needs for it is long, and
		// nothing is wrong.
		if w.floor.OK && w.ttft <= slowStartFloors*w.floor.V {
			v.Severity = Info
			v.Text = fmt.Sprintf("the first token takes %s because prompts are long: the hardware needs at least %s", units.Millis(w.ttft), units.Millis(w.floor.V))
		}
		return v
	})
}

// checkSaturated finds that both the first token and the others come slowly, with a
// queue that stands: the load is more than this server can carry well.
func checkSaturated(h *history) (outcome, Verdict) {
	w, known := waited(h)
	if !known || !w.queued.OK {
		return unclear, Verdict{}
	}
	return when(w.ttft >= slowTTFTMS && w.decodeSlow(h) && w.queues(), func() Verdict {
		return Verdict{
			Severity: Warn,
			Text: fmt.Sprintf("saturated: the first token takes %s, the others %s each, and %s wait",
				units.Millis(w.ttft), units.Millis(w.tpot), units.Count(w.queued.V, "request")),
			Evidence: w.evidence(), Advice: "lower the concurrency, or add replicas: both the batch and the queue are full",
		}
	})
}

// checkPathDelay finds time that is lost between us and the engine.
func checkPathDelay(h *history) (outcome, Verdict) {
	ours := h.atLoad().ttft
	gain := gained(h.readings(h.ofLoad()), engineTTFT)
	if ours.N < pathFewest || !sameRequests(gain.Count, ours.N) {
		return unclear, Verdict{}
	}
	engines := 1000 * gain.Sum / gain.Count
	// The median, too: a single request that was lost for a minute is a tail.
	low := min(ours.Mean, ours.P50)
	return when(low >= pathTimes*engines && low >= engines+pathByMS, func() Verdict {
		return Verdict{
			Severity: Warn,
			Text: fmt.Sprintf("TTFT is %s here but the engine reports %s; the difference is network or gateway",
				units.Millis(ours.Mean), units.Millis(engines)),
			Evidence: []string{fmt.Sprintf("means over %d requests; connection setup is not part of TTFT", ours.N)},
			Advice:   "check the network, the gateway and the API process in front of the engine",
		}
	})
}
