package diagnose

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

const moreKV = "lower the concurrency or the lengths, or give the KV cache more memory"

// checkPreemptions finds the engine dropping running requests for want of KV.
func checkPreemptions(h *history) (outcome, Verdict) {
	list := h.readings(h.ofLoad()) // those of another load say nothing about this one
	n := increase(list, preempted)
	if !n.OK {
		return unclear, Verdict{}
	}
	return when(n.V >= 1, func() Verdict {
		seconds := list[len(list)-1].At.Sub(list[0].At).Seconds()
		v := Verdict{
			Severity: Warn,
			Text:     fmt.Sprintf("the KV cache is too small for this load: %s in %.0f s", units.Count(n.V, "preemption"), seconds),
			Evidence: []string{"the engine drops running requests from its batch and computes them again later"},
			Advice:   moreKV,
		}
		if kv := fullest(h.now()); kv.OK {
			v.Evidence = append(v.Evidence, "KV cache "+units.Share(kv.V)+" full")
		}
		return v
	})
}

// checkKVFull finds requests that wait for room in the KV cache, or one that stays
// nearly full so that they will.
func checkKVFull(h *history) (outcome, Verdict) {
	room := roomInKV(h)
	if room.waited {
		return holds, room.verdict()
	}
	fill := h.engineMean(recent, fullest)
	if !fill.OK {
		return unclear, Verdict{}
	}
	return when(fill.V >= kvFullFrom, func() Verdict {
		return Verdict{
			Severity: Warn,
			Text:     fmt.Sprintf("the KV cache is %s full: new requests will wait", units.Share(fill.V)),
			Evidence: []string{fmt.Sprintf("mean of the last %.0f s, fullest rank", recent.Seconds())},
			Advice:   moreKV,
		}
	})
}

// kvRoom is how requests share the KV cache.
type kvRoom struct {
	waited          bool // always some for room, although the mean fill leaves some
	queued, running float64
	most, each      float64 // highest fill, and the share that a running request holds
}

// roomInKV looks whether requests wait for room: an engine admits a request only if the
// whole of its prompt fits.
func roomInKV(h *history) (r kvRoom) {
	frames, ok := h.steady(kvRoomSpan)
	if !ok {
		return r
	}
	queued, active, fill := h.engineMean(kvRoomSpan, waiting), h.engineMean(kvRoomSpan, running), h.engineMean(kvRoomSpan, fullest)
	if !queued.OK || !active.OK || !fill.OK || active.V < 1 {
		return r
	}
	r = kvRoom{queued: queued.V, running: active.V, each: fill.V / active.V}
	always := true
	for _, f := range frames {
		// Requests in prefill do not hold all of their blocks yet, so the highest fill
		// says more than the mean.
		r.most = max(r.most, fullest(f).Or(0))
		always = always && waiting(f).Or(0) >= 1
	}
	r.waited = always && r.most >= kvRoomFrom && r.most+r.each >= 1-kvReserve
	return r
}

func (r *kvRoom) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("%s wait for room in the KV cache: %s running fill up to %s of it, one more takes %s",
			units.Count(r.queued, "request"), units.Whole(r.running), units.Share(r.most), units.Share(r.each)),
		Evidence: []string{fmt.Sprintf("queue never empty in %.0f s; means of queue, running and fill", kvRoomSpan.Seconds())},
		Advice:   "shorter prompts or answers, an 8-bit KV cache or more memory for it; more concurrency only lengthens the queue",
	}
}

// outOfKV reports whether the engine has requests waiting and no room for them, or has
// just dropped some.
func (h *history) outOfKV() bool {
	frames, _ := h.last(outOfKVSpan)
	dropped := increase(h.readings(frames), preempted)
	return waiting(h.now()).Or(0) >= 1 && (dropped.Or(0) >= 1 || fullest(h.now()).Or(0) >= kvFullFrom)
}

// checkPrefixCache finds prompts that the engine need not compute.
func checkPrefixCache(h *history) (outcome, Verdict) {
	list := h.readings(h.frames)
	queried := increase(list, func(e *engine.Reading) opt.Float { return e.PrefixQueries })
	hit := increase(list, func(e *engine.Reading) opt.Float { return e.PrefixHits })
	source := "from the engine's counters"
	in, cached, n := 0, 0, 0
	h.successes(func(q *measure.Request) { in += q.InTokens; cached += q.CachedTokens; n++ })
	if !queried.OK || !hit.OK {
		if cached == 0 {
			return unclear, Verdict{} // a server that does not report it looks the same
		}
		queried, hit = opt.Of(float64(in)), opt.Of(float64(cached))
		source = "from the usage of the responses"
	}
	if queried.V < prefixFewest {
		return unclear, Verdict{}
	}
	share, ours := hit.V/queried.V, !unloaded(h.now())
	unique := ours && h.now().Load.Requested.Prefix == "unique"
	v := Verdict{
		Severity: Info, aside: !unique,
		Text:     fmt.Sprintf("the prefix cache serves %s of prompt tokens", units.Share(share)),
		Evidence: []string{source},
	}
	if !unique {
		if !ours {
			v.Evidence = append(v.Evidence, "the prompts are those of other clients")
		}
		return when(share >= prefixShare, func() Verdict { return v })
	}
	v.Text += " although every prompt should be new"
	v.Advice = "a chat template or other clients may share a beginning; TTFT is that much too good"
	if share >= prefixShare {
		v.Severity = Warn
	}
	perPrompt := hit.V // at least: the length of prompts may be unknown
	if in > 0 {
		perPrompt = share * float64(in) / float64(n)
	}
	return when(share > prefixShareOfNew && perPrompt > prefixTemplate, func() Verdict { return v })
}

// restartProven is how many readings, from the one whose counters fell, prove a restart: where
// several engines answer in turn, another one has answered by then.
const restartProven = 4

// checkEngineRestarted finds counters that began again, and went on from there.
func checkEngineRestarted(h *history) (outcome, Verdict) {
	if h.now().Engine.State == engine.Several {
		return absent, Verdict{}
	}
	result := unclear
	for i, f := range h.frames {
		e, ok := f.FreshEngine()
		switch {
		case ok && e.Restarted && len(h.readings(h.frames[i:])) >= restartProven:
			return holds, restarted(f, h.now())
		case ok:
			result = absent
		}
	}
	return result, Verdict{}
}

func restarted(then, now *frame.Frame) Verdict {
	return Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("the engine restarted about %.0f s ago", (now.At - then.At).Seconds()),
		Evidence: []string{"its counters dropped between two readings"},
		Advice:   "check the engine's log; its caches are cold now",
	}
}
