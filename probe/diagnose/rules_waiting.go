package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/engine"
	"sonde/probe/opt"
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
	alone           bool // what the engine says is of our requests alone
}

// waited gathers it; not ok with too few requests.
func waited(h *history) (w wait, ok bool) {
	s := h.atLoad()
	if s.ttft.N < enough || s.tpot.N < enough || s.e2e.N < enough {
		return w, false
	}
	w = wait{ttft: s.ttft.P50, tpot: s.tpot.P50, e2e: s.e2e.P50, n: s.ttft.N}
	w.queued, w.kv = h.engineMean(recent, waiting), h.engineMean(recent, fullest)
	frames, _ := h.last(min(keep, h.now().At-h.since))
	list := h.readings(frames)
	w.queue = meanGain(list, func(e *engine.Reading) engine.Histogram { return e.Queue })
	w.prefill = meanGain(list, func(e *engine.Reading) engine.Histogram { return e.Prefill })
	first := func(e *engine.Reading) engine.Histogram { return e.TTFT }
	// Only if it counts about as many requests as we do they are ours.
	answered := 0
	for _, f := range frames {
		answered += len(f.Client.SliceTTFT)
	}
	counted := gained(list, first).Count
	if counted == 0 {
		counted = gained(list, func(e *engine.Reading) engine.Histogram { return e.Prefill }).Count
	}
	w.alone = math.Abs(counted-float64(answered)) <= 0.25*float64(answered)
	w.own = meanGain(list, first)
	w.floor = h.now().Roofline.TTFTFloorMS
	return w, true
}

// queues tells that requests stand in the engine's queue all the time.
func (w *wait) queues() bool { return w.queued.OK && w.queued.V >= 1 }

// engines is the share of our TTFT that the engine accounts for; unknown if it
// does not say.
func (w *wait) engines() opt.Float {
	if !w.alone {
		return opt.Float{}
	}
	inside := w.own
	if w.queue.OK && w.prefill.OK {
		inside = opt.Of(max(w.own.Or(0), w.queue.V+w.prefill.V))
	}
	if !inside.OK {
		return opt.Float{}
	}
	return opt.Of(1000 * inside.V / w.ttft)
}

// cause says what the time goes into, no more than is known.
func (w *wait) cause() (cause, advice string) {
	const full, half = 0.9, 0.5
	inside := w.engines()
	switch {
	case inside.OK && inside.V < half:
		return "most of it is not the engine's", "look at the network, the gateway and the API process in front of the engine"
	case w.queues() && w.kv.Or(0) >= full:
		return "waiting for room in the KV cache", "lower the concurrency or the lengths, or give the KV cache more memory"
	case w.queues() && (!w.prefill.OK || w.queue.Or(0) >= w.prefill.V):
		return "waiting in the engine's queue", "lower the concurrency, raise the engine's limit of sequences, or add replicas"
	case w.queues(), w.queued.OK && inside.OK:
		return "prefill", "shorten prompts, let the prefix cache work, or tune chunked prefill"
	case w.queued.OK:
		return "the engine's queue is empty: prefill, or something before it", "shorten prompts; compare with the engine's own TTFT, or address it directly"
	}
	return "waiting or prefill", "see the engine's queue: switch its metrics on"
}

func (w *wait) evidence() []string {
	out := []string{fmt.Sprintf("TTFT p50 %s, TPOT p50 %s, n %d", millis(w.ttft), millis(w.tpot), w.n)}
	if w.queued.OK {
		out = append(out, fmt.Sprintf("%.1f requests in the engine's queue on average", w.queued.V))
	}
	if w.queue.OK && w.prefill.OK {
		out = append(out, fmt.Sprintf("by the engine: queue %s, prefill %s on average", millis(1000*w.queue.V), millis(1000*w.prefill.V)))
	}
	return out
}

// slowStart finds a long wait for the first token while decoding is fine.
type slowStart struct{ wait }

func (r *slowStart) check(h *history) (result outcome) {
	const share = 0.3 // of E2E
	var known bool
	if r.wait, known = waited(h); !known {
		return unclear
	}
	if (&clumps{}).check(h) == holds || (&pathDelay{}).check(h) == holds {
		return absent // the way, not the engine; and behind it decoding is not seen
	}
	return found(r.ttft >= slowTTFTMS && r.ttft >= share*r.e2e && !slowTPOT(r.tpot, h.now().Roofline.TPOTFloorMS))
}

func (r *slowStart) verdict() Verdict {
	cause, advice := r.cause()
	v := Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("the first token takes %s, decoding is fine: %s", millis(r.ttft), cause),
		Evidence: r.evidence(), Advice: advice,
	}
	// A prompt that takes about as long as the hardware needs for it is long, and
	// nothing is wrong.
	const near = 2.5
	if r.floor.OK && r.ttft <= near*r.floor.V {
		v.Severity = Info
		v.Text = fmt.Sprintf("the first token takes %s, as prompts are long: the hardware needs at least %s", millis(r.ttft), millis(r.floor.V))
	}
	return v
}

// saturated finds that both the first token and the others come slowly, with a
// queue that stands: the load is more than this server can carry well.
type saturated struct{ wait }

func (r *saturated) check(h *history) outcome {
	var known bool
	if r.wait, known = waited(h); !known || !r.queued.OK {
		return unclear
	}
	return found(r.ttft >= slowTTFTMS && slowTPOT(r.tpot, h.now().Roofline.TPOTFloorMS) && r.queues())
}

func (r *saturated) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("saturated: the first token takes %s and the others %s each, %s requests wait",
			millis(r.ttft), millis(r.tpot), count(r.queued.V)),
		Evidence: r.evidence(), Advice: "lower the concurrency, or add replicas: both the batch and the queue are full",
	}
}
