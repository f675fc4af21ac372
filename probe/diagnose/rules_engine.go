package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// engineRestarted finds counters that began anew.
type engineRestarted struct{ ago time.Duration }

func (r *engineRestarted) check(h *history) outcome {
	known := false
	for _, f := range h.frames {
		if e, ok := reading(f); ok {
			known = true
			if e.Restarted {
				r.ago = h.now().At - f.At
				return holds
			}
		}
	}
	if !known {
		return unclear
	}
	return absent
}

func (r *engineRestarted) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("the engine restarted about %.0f s ago", r.ago.Seconds()),
		Evidence: []string{"its counters fell between two readings"},
		Advice:   "look into the engine's log; its caches are cold now",
	}
}

// preemptions finds the engine throwing running requests out for want of KV.
type preemptions struct {
	n, seconds float64
	kv         opt.Float
}

func (r *preemptions) check(h *history) outcome {
	// Those of another load say nothing about this one.
	frames, _ := h.last(min(keep, h.now().At-h.since))
	list := h.readings(frames)
	n := increase(list, func(e *engine.Reading) opt.Float { return e.Preemptions })
	if !n.OK {
		return unclear
	}
	r.n, r.kv = n.V, fullest(h.now())
	r.seconds = list[len(list)-1].At.Sub(list[0].At).Seconds()
	return found(n.V >= 1)
}

func (r *preemptions) verdict() Verdict {
	v := Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("the KV cache is too small for this load: %s in %.0f s", several(r.n, "preemption"), r.seconds),
		Evidence: []string{"the engine throws running requests out of its batch and computes them again later"},
		Advice:   "lower the concurrency or the lengths, or give the KV cache more memory",
	}
	if r.kv.OK {
		v.Evidence = append(v.Evidence, "KV cache "+percent(r.kv.V)+" full")
	}
	return v
}

// outOfKV tells that the engine has requests waiting and no room for them, or has
// just thrown some out.
func (h *history) outOfKV() bool {
	const full, lately = 0.95, 10 * time.Second
	frames, _ := h.last(lately)
	preempted := increase(h.readings(frames), func(e *engine.Reading) opt.Float { return e.Preemptions })
	return waiting(h.now()).Or(0) >= 1 && (preempted.Or(0) >= 1 || fullest(h.now()).Or(0) >= full)
}

// fullest is the fill of the fullest rank.
func fullest(f *frame.Frame) opt.Float {
	if r, ok := reading(f); ok {
		return r.FullestKV()
	}
	return opt.Float{}
}

// kvFull finds a KV cache that stays nearly full.
type kvFull struct{ fill float64 }

func (r *kvFull) check(h *history) outcome {
	fill := h.engineMean(recent, fullest)
	if !fill.OK {
		return unclear
	}
	r.fill = fill.V
	if (&kvRoom{}).check(h) == holds {
		return absent // it says the same, and more
	}
	return found(fill.V >= 0.95)
}

func (r *kvFull) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("the KV cache is %s full: new requests will wait", percent(r.fill)),
		Evidence: []string{fmt.Sprintf("mean of the last %.0f s, fullest rank", recent.Seconds())},
		Advice:   "lower the concurrency or the lengths, or give the KV cache more memory",
	}
}

// gpuIdle finds requests that wait although the GPU has nothing to do.
type gpuIdle struct {
	sm     float64
	span   time.Duration
	queued opt.Float
	open   int
}

func (r *gpuIdle) check(h *history) outcome {
	now := h.now()
	// A figure that changes seldom may be of a time before anyone waited.
	if r.span = max(recent, 2*now.GPU.Period); r.span > keep {
		return unclear
	}
	frames, _ := h.last(r.span)
	active := h.gpuMean(r.span, sm)
	if !active.OK || h.justChanged() {
		return unclear
	}
	for _, f := range frames {
		if !someoneWaits(f) {
			return absent
		}
	}
	r.sm, r.queued, r.open = active.V, waiting(now), now.Client.Prefill
	return found(active.V < 0.3)
}

// someoneWaits goes by the engine's queue, and where that is unknown by
// requests that have had no token for a second.
func someoneWaits(f *frame.Frame) bool {
	if w := waiting(f); w.OK {
		return w.V > 0
	}
	return f.Client.Prefill > 0 && f.Client.OldestWaiting >= time.Second
}

func (r *gpuIdle) verdict() Verdict {
	evidence := []string{fmt.Sprintf("SM activity of the busiest GPU %s over the last %.0f s", percent(r.sm), r.span.Seconds())}
	if r.queued.OK {
		evidence = append(evidence, fmt.Sprintf("%s requests in the engine's queue all the time", count(r.queued.V)))
	} else {
		evidence = append(evidence, fmt.Sprintf("%d requests without a token", r.open))
	}
	return Verdict{
		Severity: Warn, Text: fmt.Sprintf("the GPU is idle while requests wait: SM activity %s", percent(r.sm)),
		Evidence: evidence,
		Advice:   "look at what feeds it: the engine's CPU, the tokenizer, the scheduler, the network",
	}
}

// prefixCache finds prompts that the engine need not compute.
type prefixCache struct {
	share  float64
	prefix string
	by     string
}

func (r *prefixCache) check(h *history) outcome {
	const fewest = 1000 // tokens
	list := h.readings(h.frames)
	asked := increase(list, func(e *engine.Reading) opt.Float { return e.PrefixQueries })
	hit := increase(list, func(e *engine.Reading) opt.Float { return e.PrefixHits })
	r.by = "by the engine's counters"
	if !asked.OK || !hit.OK {
		in, cached := 0, 0
		h.successes(func(q *measure.Request) { in += q.InTokens; cached += q.CachedTokens })
		if cached == 0 {
			return unclear // a server that does not tell looks the same
		}
		asked, hit = opt.Of(float64(in)), opt.Of(float64(cached))
		r.by = "by the usage of the replies"
	}
	if asked.V < fewest {
		return unclear
	}
	r.share, r.prefix = hit.V/asked.V, h.now().Load.Asked.Prefix
	if r.prefix == "unique" {
		return found(r.share > 0.01)
	}
	return found(r.share >= 0.2)
}

func (r *prefixCache) verdict() Verdict {
	v := Verdict{
		Severity: Info, aside: r.prefix != "unique",
		Text:     fmt.Sprintf("the prefix cache answers %s of prompt tokens", percent(r.share)),
		Evidence: []string{r.by},
	}
	if r.prefix == "unique" {
		v.Text += " although every prompt is to be new"
		v.Advice = "a chat template or other clients may share a beginning; TTFT is that much too good"
		if r.share >= 0.2 {
			v.Severity = Warn
		}
	}
	return v
}
