package diagnose

import (
	"math"

	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// wait is what is known about the time before the first token, and how busy the engine is.
type wait struct {
	busy
	ttft, tpot, e2e     float64   // p50, ms
	queue, prefill, own opt.Float // the engine's own means, seconds; own is its TTFT
	n                   int
	alone               bool // the engine's figures are of our requests alone
}

// waited collects it; it is not ok with too few requests.
func waited(h *history) (w wait, ok bool) {
	ttft, tpot, e2e := h.lately((*measure.Request).TTFT), h.lately((*measure.Request).TPOT), h.lately((*measure.Request).E2E)
	if ttft.N < enough || tpot.N < enough || e2e.N < enough {
		return w, false
	}
	frames := h.ofLoad()
	list := h.readings(frames)
	first, prefill := gained(list, engine.FieldTTFT), gained(list, engine.FieldPrefill)
	w = wait{busy: h.busy, ttft: ttft.P50, tpot: tpot.P50, e2e: e2e.P50, n: ttft.N,
		queue: gained(list, engine.FieldQueue).Mean(), prefill: prefill.Mean(), own: first.Mean()}
	answered, counted := 0, first.Count
	for _, f := range frames {
		answered += len(f.Client.SliceTTFT)
	}
	if counted == 0 {
		counted = prefill.Count
	}
	w.alone = onlyOurs(counted, answered)
	return w, true
}

// onlyOurs reports whether the engine counted about as many requests, or tokens, as we did:
// only then are they the same ones.
func onlyOurs(counted float64, ours int) bool {
	return math.Abs(counted-float64(ours)) <= sameCount*float64(ours)
}

// queues reports whether there are always requests in the engine's queue.
func (w *wait) queues() bool { return w.waiting.OK && w.waiting.V >= 1 }

// inEngine is the share of our TTFT that was spent in the engine; unknown if it does not
// report it.
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

// cause is what the time is spent on, as far as it is known.
func (w *wait) cause() (cause, advice string) {
	inside := w.inEngine()
	switch {
	case inside.OK && inside.V < slowStartInside:
		return "most of it is spent outside the engine", beforeEngine
	case w.queues() && w.kv.Or(0) >= slowStartKVFull:
		return "waiting for room in the KV cache", moreKV
	case w.queues() && (!w.prefill.OK || w.queue.Or(0) >= w.prefill.V):
		return "waiting in the engine's queue", "lower the concurrency, raise the engine's sequence limit, or add replicas"
	case w.queues(), w.waiting.OK && inside.OK:
		return "prefill", "shorten prompts, use the prefix cache, or tune chunked prefill"
	case w.waiting.OK:
		return "prefill, or something before the engine, whose queue is empty", "shorten prompts; compare with the engine's own TTFT, or connect to it directly"
	}
	return "queue or prefill", "enable the engine's metrics to see its queue"
}

const beforeEngine = "check the network, the gateway and the API process in front of the engine"

// evidence adds what is known of the wait.
func (w *wait) evidence(f finding) finding {
	return f.with("TTFT p50 %s, TPOT p50 %s, n %d", units.Millis(w.ttft), units.Millis(w.tpot), w.n).
		withIf(w.waiting.OK, "%.1f requests in the engine's queue on average", w.waiting.V).
		withIf(w.queue.OK && w.prefill.OK, "the engine reports: queue %s, prefill %s on average", units.Millis(1000*w.queue.V), units.Millis(1000*w.prefill.V))
}

// checkSlowStart finds a long wait for the first token while decode is fine.
func checkSlowStart(h *history) finding {
	w, known := waited(h)
	slow := w.ttft >= slowTTFTMS && w.ttft >= slowStartShare*w.e2e
	cause, advice := w.cause()
	v := warn("the first token takes %s, decode is fine: %s", units.Millis(w.ttft), cause)
	// If a prompt takes about as long as the hardware needs for it, it is long and nothing
	// is wrong.
	if floor := h.now().Roofline.TTFTFloorMS; floor.OK && w.ttft <= slowStartFloors*floor.V {
		v = info("the first token takes %s because prompts are long: the hardware needs at least %s", units.Millis(w.ttft), units.Millis(floor.V))
	}
	return decide(known, slow && !h.slowTPOT(w.tpot), w.evidence(v).advise(advice))
}

// checkSaturated finds that both the first token and the others are slow while requests
// always queue: the load is more than this server handles well.
func checkSaturated(h *history) finding {
	w, known := waited(h)
	v := warn("saturated: the first token takes %s, the others %s each, and %s wait", units.Millis(w.ttft), units.Millis(w.tpot), units.Count(w.waiting.V, "request"))
	return decide(known && w.waiting.OK, w.ttft >= slowTTFTMS && h.slowTPOT(w.tpot) && w.queues(),
		w.evidence(v).advise("lower the concurrency, or add replicas: both the batch and the queue are full"))
}

// checkPathDelay finds time that is lost between us and the engine.
func checkPathDelay(h *history) finding {
	ours := h.present.ttft
	first := gained(h.readings(h.ofLoad()), engine.FieldTTFT)
	engines := 1000 * first.Sum / first.Count
	// The median too: one request that was lost for a minute is a tail.
	low := min(ours.Mean, ours.P50)
	return decide(ours.N >= pathFewest && onlyOurs(first.Count, ours.N), low >= pathTimes*engines && low >= engines+pathByMS,
		warn("TTFT is %s here but the engine reports %s; the difference is network or gateway", units.Millis(ours.Mean), units.Millis(engines)).
			with("means over %d requests; connection setup is not part of TTFT", ours.N).
			advise(beforeEngine))
}
