package diagnose

import (
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/units"
)

const moreKV = "lower the concurrency or the lengths, or give the KV cache more memory"

// checkPreemptions finds the engine dropping running requests for lack of KV cache.
func checkPreemptions(h *history) finding {
	list := h.readings(h.ofLoad()) // preemptions at another load say nothing about this one
	n := increase(list, engine.FieldPreemptions)
	if !n.OK {
		return unclear
	}
	var again recurrence
	for i := 1; i < len(list); i++ {
		for range int(increase(list[i-1:i+1], engine.FieldPreemptions).Or(0)) {
			again.add(h.at(list[i]))
		}
	}
	kv := fullest(h.now())
	return decide(true, n.V >= 1 && again.goesOn(h.now().At), warn("the KV cache is too small for this load: %s in %.0f s",
		units.Count(n.V, "preemption"), list[len(list)-1].At.Sub(list[0].At).Seconds()).
		with("the engine drops running requests from its batch and recomputes them later").
		withIf(kv.OK, "KV cache %s full", units.Share(kv.V)).
		advise(moreKV))
}

// checkKVFull finds requests that wait for room in the KV cache, or a cache that stays so
// full that they will.
func checkKVFull(h *history) finding {
	if f := checkKVRoom(h); f.outcome == holds {
		return f
	}
	fill := h.busy.kv
	return decide(fill.OK, fill.V >= kvFullFrom, warn("the KV cache is %s full: new requests will wait", units.Share(fill.V)).
		with("mean of the last %s, fullest rank", units.Span(recent)).
		advise(moreKV))
}

// checkKVRoom finds that requests always wait for room, although the mean fill leaves some:
// an engine admits a request only if the whole of its prompt fits.
func checkKVRoom(h *history) finding {
	frames, ok := h.steady(kvRoomSpan)
	queued, active, fill := h.engineMean(kvRoomSpan, waiting), h.engineMean(kvRoomSpan, running), h.engineMean(kvRoomSpan, fullest)
	always, most, each := true, 0.0, fill.V/active.V // highest fill, and the share that a running request holds
	for _, f := range frames {
		// Requests in prefill do not hold all of their blocks yet, so the highest fill
		// says more than the mean.
		most = max(most, fullest(f).Or(0))
		always = always && waiting(f).Or(0) >= 1
	}
	return decide(ok && queued.OK && active.OK && fill.OK && active.V >= 1, always && most >= kvRoomFrom && most+each >= 1-kvReserve,
		warn("%s waiting for room in the KV cache: %s running fill up to %s of it, and one more needs %s",
			units.Count(queued.V, "request"), units.Whole(active.V), units.Share(most), units.Share(each)).
			with("the queue was never empty in %s; queue, running and room for one are means", units.Span(kvRoomSpan)).
			advise("use shorter prompts or responses, an 8-bit KV cache, or more KV memory; more concurrency only lengthens the queue"))
}

// outOfKV reports whether requests wait and the engine has no room for them, or has just
// dropped some.
func (h *history) outOfKV() bool {
	frames, _ := h.last(outOfKVSpan)
	dropped := increase(h.readings(frames), engine.FieldPreemptions)
	return waiting(h.now()).Or(0) >= 1 && (dropped.Or(0) >= 1 || fullest(h.now()).Or(0) >= kvFullFrom)
}

// checkPrefixCache finds prompts that the engine need not compute.
func checkPrefixCache(h *history) finding {
	list := h.readings(h.frames)
	queried, hit := increase(list, engine.FieldPrefixQueries), increase(list, engine.FieldPrefixHits)
	source := "from the engine's counters"
	in, cached, n := 0, 0, 0
	for _, q := range h.successes() {
		in, cached, n = in+q.InTokens, cached+q.CachedTokens, n+1
	}
	if !queried.OK || !hit.OK {
		if cached == 0 {
			return unclear // a server that does not report it looks the same
		}
		queried, hit = opt.Of(float64(in)), opt.Of(float64(cached))
		source = "from usage in the responses"
	}
	share, known, ours := hit.V/queried.V, queried.V >= prefixFewest, !h.now().Load.Requested.IsIdle()
	v := info("the prefix cache serves %s of prompt tokens", units.Share(share)).with("%s", source)
	if l := &h.now().Load.Requested; !ours || l.Prefix != "unique" || l.Turns > 1 || l.Trace != "" {
		return decide(known, share >= prefixShare, v.besideIf(true).withIf(!ours, "the prompts come from other clients"))
	}
	v.Text += " although every prompt should be new"
	perPrompt := hit.V // at least: the length of prompts may be unknown
	if in > 0 {
		perPrompt = share * float64(in) / float64(n)
	}
	return decide(known, share > prefixShareOfNew && perPrompt > prefixTemplate, v.asIf(share >= prefixShare, Warn).
		advise("a chat template or other clients may share a prefix; TTFT looks better than it is"))
}

// restartProven is how many readings, from the one whose counters fell, prove a restart: where
// several engines answer in turn, another one has answered by then.
const restartProven = 4

// checkEngineRestarted finds counters that started over, and kept counting from there.
func checkEngineRestarted(h *history) finding {
	if h.now().Engine.State == engine.Several {
		return absent
	}
	known := false
	for i, f := range h.frames {
		e, ok := f.FreshEngine()
		if ok && e.Restarted && len(h.readings(h.frames[i:])) >= restartProven {
			return restarted(f, h.now())
		}
		known = known || ok
	}
	return decide(known, false, finding{})
}

func restarted(then, now *frame.Frame) finding {
	return warn("the engine restarted about %.0f s ago", (now.At - then.At).Seconds()).
		with("its counters dropped between two readings").
		advise("check the engine's log; its caches are cold now")
}
