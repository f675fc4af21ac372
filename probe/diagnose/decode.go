package diagnose

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// slowTPOT reports whether decoding is slow: for a reader, or for this hardware.
func (h *history) slowTPOT(tpot float64) bool {
	floor := h.now().Roofline.TPOTFloorMS
	return tpot >= slowTPOTMS || tpot >= quickTPOTMS && floor.OK && tpot >= slowTPOTFloors*floor.V
}

// checkBandwidthBound finds decoding at the limit of the GPU's memory.
func checkBandwidthBound(h *history) finding {
	frames, ok := h.steady(recent)
	tpot, dramShare, arithmetic := h.now().Client.TPOT, h.busy.dram, h.busy.tensor
	source := fmt.Sprintf("mean of the last %.0f s", recent.Seconds())
	if age, seldom := h.seldomRead(); seldom {
		dramShare, arithmetic = busiest(h.now(), dram), busiest(h.now(), tensor)
		source = fmt.Sprintf("from a reading %.0f s old", age.Seconds())
	}
	switch {
	case !ok || !dramShare.OK || !h.busy.waiting.OK || tpot.N < enough && !fewSuffice(h, tpot.N):
		return unclear
	case h.quiet() > h.usual.gapLimit(0)/2:
		return absent // no token arrives: whatever uses the memory, it is not decoding
	}
	decoding, open := 0, 0
	for _, f := range frames {
		if f.Client.InFlight > f.Client.Prefill {
			decoding++
		}
		open = max(open, f.Client.InFlight)
	}
	bound := dramShare.V >= boundDRAM && h.busy.waiting.V < boundQueue && arithmetic.Or(0) < boundTensor
	floor, now := h.now().Roofline.TPOTFloorMS, units.Millis(tpot.P50)
	// Below the floor, a step yields several tokens, or the model is another one.
	if floor.OK && floor.V > 0 && tpot.P50 >= floor.V {
		now += fmt.Sprintf(" = %.1f× the floor of %s", tpot.P50/floor.V, units.Millis(floor.V))
	}
	return decide(true, bound && float64(decoding) >= boundDecoding*float64(len(frames)),
		info("decode is bound by memory bandwidth: DRAM %s of peak, TPOT %s, queue empty", units.Share(dramShare.V), now).
			besideIf(!h.slowTPOT(tpot.P50)).
			with("busiest GPU, %s, up to %s in flight", source, units.Count(open, "stream")).
			advise("more streams cost little until compute is the limit; a smaller weight or KV format lowers TPOT"))
}

// seldomRead reports whether GPU figures change too seldom for a mean of the last
// seconds, but the newest one was taken wholly under the present load.
func (h *history) seldomRead() (age time.Duration, yes bool) {
	f := h.now()
	age, known := f.Age(f.GPU.At)
	return age, known && 2*f.GPU.Period > recent && f.At-age-f.GPU.Period >= h.since
}

// checkHostBound finds a GPU that stands idle between decode steps: each step waits for
// the CPU, the scheduler or another GPU.
func checkHostBound(h *history) finding {
	newest, floor, g := h.lately((*measure.Request).TPOT), h.now().Roofline.TPOTFloorMS, &h.busy
	if newest.N < enough || !floor.OK || floor.V <= 0 || !g.sm.OK || !g.dram.OK {
		return unclear
	}
	tpot, advice := newest.P50, "check the engine's CPU and scheduler, CUDA graphs, and other processes on the host"
	if len(h.now().GPU.GPUs) > 1 {
		advice += "; also the links between the GPUs"
	}
	idle := g.sm.V < hostBoundSM && g.dram.V < hostBoundDRAM && tpot >= hostBoundFloors*floor.V
	return decide(true, idle && h.decodes(recent),
		info("the GPU waits between steps: SM %s, DRAM %s, TPOT %s is %s its floor",
			units.Share(g.sm.V), units.Share(g.dram.V), units.Millis(tpot), units.Ratio(tpot/floor.V)).
			besideIf(tpot < hostBoundSlowMS).
			with("TPOT floor of this hardware %s; streams were decoding throughout", units.Millis(floor.V)).
			advise(advice))
}

// decodes reports whether some stream got tokens nearly all the time in the newest d,
// except while one of our prompts was being read.
func (h *history) decodes(d time.Duration) bool {
	const most, least = 0.75, 0.5
	frames, ok := h.steady(d)
	got, busy := 0, 0
	for _, f := range frames {
		switch {
		case f.Client.SliceOutTokens > 0:
			got++
			busy++
		case f.Client.Prefill > 0:
			busy++
		}
	}
	all := float64(len(frames))
	return ok && float64(busy) >= most*all && float64(got) >= least*all
}

// checkSlowDecode finds tokens that come slowly although the first one does not.
func checkSlowDecode(h *history) finding {
	ttfts, tpots := h.lately((*measure.Request).TTFT), h.lately((*measure.Request).TPOT)
	floor, b, tpot := h.now().Roofline.TPOTFloorMS, &h.busy, tpots.P50
	cause, advice := h.slowDecodeCause(tpot)
	return decide(tpots.N >= enough && ttfts.N >= enough, h.slowTPOT(tpot) && ttfts.P50 < slowTTFTMS,
		info("decode is slow, TTFT is not: TPOT %s%s", units.Millis(tpot), cause).
			with("TPOT p50 %s, TTFT p50 %s; %.1f tokens/s per stream", units.Millis(tpot), units.Millis(ttfts.P50), 1000/tpot).
			withIf(floor.OK && floor.V > 0 && tpot >= floor.V, "%s the hardware's floor of %s", units.Ratio(tpot/floor.V), units.Millis(floor.V)).
			withIf(b.running.OK && b.kv.OK, "the engine runs %s at once, KV cache %s full", units.Count(b.running.V, "request"), units.Share(b.kv.V)).
			withIf(b.sm.OK && b.dram.OK, "SM %s, DRAM %s of peak", units.Share(b.sm.V), units.Share(b.dram.V)).
			advise(advice))
}

// slowDecodeCause names what limits decoding, as far as the hardware shows: the end of the
// sentence, and what to do.
func (h *history) slowDecodeCause(tpot float64) (cause, advice string) {
	b, gap := &h.busy, h.now().Client.Gap.P50
	read := 0 // pauses in which prompts of ours were read
	for _, p := range h.pauses {
		if p.reading {
			read++
		}
	}
	idles := b.sm.OK && b.dram.OK && b.sm.V < slowDecodeIdleSM && b.dram.V < slowDecodeIdleDRAM
	switch {
	case read >= slowDecodeReads && gap <= tpot/2:
		return " because prompts are read in between, while most gaps are " + units.Millis(gap),
			"use smaller prefill chunks, shorter prompts, or separate engines for prefill"
	case b.dram.OK && b.dram.V >= boundDRAM && b.kv.Or(0) >= slowDecodeKV:
		return ", bound by memory bandwidth (KV cache " + units.Share(b.kv.V) + " full)",
			"use fewer or shorter contexts, a smaller KV format, or more GPUs"
	case b.dram.OK && b.dram.V >= boundDRAM:
		return ", bound by memory bandwidth", "use a smaller weight or KV format, or more or faster GPUs"
	case b.tensor.OK && b.tensor.V >= slowDecodeTensor:
		return ", bound by compute", "use a smaller batch, shorter prompts, or more GPUs"
	case idles && len(h.now().GPU.GPUs) > 1:
		return ", as the GPUs wait for the host or for each other", "check the communication between the GPUs, and the engine's CPU"
	case idles:
		return ", as the GPU waits for the host", "check the engine's CPU, its scheduler and CUDA graphs"
	case b.running.OK && b.running.V >= slowDecodeBatch:
		return ", with a batch of " + units.Whole(b.running.V), "lower the engine's sequence limit, or add replicas"
	}
	return "", "check batch size, memory bandwidth, context lengths, and communication between GPUs"
}

// checkAnswerGrowth finds decoding that slows down during a response.
func checkAnswerGrowth(h *history) finding {
	const most = 50                                  // sorting every gap of a fast server would take its time
	level, ratios := h.now().Load.Level, []float64{} // last quarter over second quarter
	requests := h.successes()
	for _, q := range requests[max(0, len(requests)-most):] {
		if q.Level != level || level == 0 || len(q.GapsMS) < growthGaps {
			continue
		}
		quarter := len(q.GapsMS) / 4
		early, late := median(q.GapsMS[quarter:2*quarter]), median(q.GapsMS[3*quarter:])
		if early > 0 {
			ratios = append(ratios, float64(late)/float64(early))
		}
	}
	n := len(ratios)
	if n < growthFewest {
		return unclear
	}
	slices.Sort(ratios)
	// Four of five must agree: while other requests come and go, the gaps of one show
	// their changes, not its own growth.
	return decide(true, ratios[n/2] >= growthRise && ratios[n/5] >= growthRiseOfMost,
		info("gaps grow during a response: at its end they are %s what they are early on", units.Ratio(ratios[n/2])).
			with("median gap of the last quarter divided by that of the second, %d requests", n).
			advise("expected where attention over a long KV cache takes much of each step"))
}

// checkSlowed finds that the server became slower at an unchanged load.
func checkSlowed(h *history) finding {
	requested := h.now().Load.Requested
	// An open loop sometimes has more in flight by chance, and so have conversations, whose prompts
	// grow too.
	tpotTimes, ttftTimes := slowedTPOT, slowedTTFT
	if requested.Rate > 0 || requested.Turns > 1 {
		tpotTimes, ttftTimes = slowedTPOTOpen, slowedTTFTOpen
	}
	tpot, ttft := h.lately((*measure.Request).TPOT), h.lately((*measure.Request).TTFT)
	if slower(tpot, h.best.tpot, tpotTimes, slowedTPOTByMS) {
		return slowed("TPOT", h.best.tpot, tpot)
	}
	// Prompts from a file may simply be longer now, as are those of later turns.
	return decide(h.best.ttft > 0, requested.InputTokens > 0 && requested.Turns < 2 && requested.Trace == "" && slower(ttft, h.best.ttft, ttftTimes, slowedTTFTByMS),
		slowed("TTFT", h.best.ttft, ttft))
}

func slower(now measure.Summary, best, times, byMS float64) bool {
	return now.N >= enough && best > 0 && now.P50 >= max(times*best, best+byMS)
}

func slowed(name string, before float64, now measure.Summary) finding {
	return info("slower than before at the same load: %s %s, was %s (%s)", name, units.Millis(now.P50), units.Millis(before), units.Ratio(now.P50/before)).
		with("medians of the newest %d requests and of the best ten seconds since the load was set", now.N).
		advise("look for other load on the server, a throttled GPU, a busy host, or a different replica serving now")
}
