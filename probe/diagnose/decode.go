package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// slowTPOT reports whether decoding is slow: for a reader, or for this hardware.
func slowTPOT(tpot float64, floor opt.Float) bool {
	return tpot >= slowTPOTMS || tpot >= quickTPOTMS && floor.OK && tpot >= slowTPOTFloors*floor.V
}

// hardware is how busy the busiest GPU is.
type hardware struct {
	sm, dram, tensor opt.Float
	gpus             int
}

func (h *history) hardware() hardware {
	return hardware{h.gpuMean(recent, sm), h.gpuMean(recent, dram), h.gpuMean(recent, tensor), len(h.now().GPU.GPUs)}
}

// idles reports whether the GPU waits for something else.
func (g *hardware) idles() bool {
	return g.sm.OK && g.dram.OK && g.sm.V < slowDecodeIdleSM && g.dram.V < slowDecodeIdleDRAM
}

// checkBandwidthBound finds decoding at the limit of the GPU's memory.
func checkBandwidthBound(h *history) (outcome, Verdict) {
	frames, ok := h.steady(recent)
	tpot, queued, g := h.now().Client.TPOT, h.engineMean(recent, waiting), h.hardware()
	source := fmt.Sprintf("mean of the last %.0f s", recent.Seconds())
	if age, seldom := h.seldomRead(); seldom {
		g.dram, g.tensor = busiest(h.now(), dram), busiest(h.now(), tensor)
		source = fmt.Sprintf("from a reading %.0f s old", age.Seconds())
	}
	if !ok || !g.dram.OK || !queued.OK || tpot.N < enough && !fewSuffice(h, tpot.N) {
		return unclear, Verdict{}
	}
	if h.quiet() > h.usual.gapLimit(0)/2 {
		return absent, Verdict{} // no token comes: whatever the memory does, it is not decoding
	}
	decoding, open := 0, 0
	for _, f := range frames {
		if f.Client.InFlight > f.Client.Prefill {
			decoding++
		}
		open = max(open, f.Client.InFlight)
	}
	bound := g.dram.V >= boundDRAM && queued.V < boundQueue && g.tensor.Or(0) < boundTensor
	return when(bound && float64(decoding) >= boundDecoding*float64(len(frames)), func() Verdict {
		floor, now := h.now().Roofline.TPOTFloorMS, units.Millis(tpot.P50)
		// Below the floor several tokens come of a step, or it is another model.
		if floor.OK && floor.V > 0 && tpot.P50 >= floor.V {
			now += fmt.Sprintf(" = %.1f× the floor of %s", tpot.P50/floor.V, units.Millis(floor.V))
		}
		return Verdict{
			Severity: Info, aside: !slowTPOT(tpot.P50, floor),
			Text:     fmt.Sprintf("decode is bound by memory bandwidth: DRAM %s of peak, TPOT %s, queue empty", units.Share(g.dram.V), now),
			Evidence: []string{fmt.Sprintf("busiest GPU, %s, up to %s in flight", source, units.Count(float64(open), "stream"))},
			Advice:   "more streams cost little until compute binds; a smaller weight or KV format lowers TPOT",
		}
	})
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
func checkHostBound(h *history) (outcome, Verdict) {
	newest, floor, g := h.lately((*measure.Request).TPOT), h.now().Roofline.TPOTFloorMS, h.hardware()
	if newest.N < enough || !floor.OK || floor.V <= 0 || !g.sm.OK || !g.dram.OK {
		return unclear, Verdict{}
	}
	tpot := newest.P50
	idle := g.sm.V < hostBoundSM && g.dram.V < hostBoundDRAM && tpot >= hostBoundFloors*floor.V
	return when(idle && h.decodes(recent), func() Verdict {
		v := Verdict{
			Severity: Info, aside: tpot < hostBoundSlowMS,
			Text: fmt.Sprintf("the GPU waits between steps: SM %s, DRAM %s, TPOT %s is %s its floor",
				units.Share(g.sm.V), units.Share(g.dram.V), units.Millis(tpot), units.Ratio(tpot/floor.V)),
			Evidence: []string{fmt.Sprintf("TPOT floor of this hardware %s; streams decode all the time", units.Millis(floor.V))},
			Advice:   "check the engine's CPU and scheduler, CUDA graphs, and other processes on the host",
		}
		if g.gpus > 1 {
			v.Advice += "; with several GPUs also the links between them"
		}
		return v
	})
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

// slowDecode is what is known where tokens come slowly.
type slowDecode struct {
	hardware
	ttft, tpot  float64   // p50, ms
	gap         float64   // p50, ms
	floor       opt.Float // ms
	running, kv opt.Float
	read        int // pauses in which prompts of ours were read
}

// checkSlowDecode finds tokens that come slowly although the first one does not.
func checkSlowDecode(h *history) (outcome, Verdict) {
	s, floor := h.atLoad(), h.now().Roofline.TPOTFloorMS
	if s.tpot.N < enough || s.ttft.N < enough {
		return unclear, Verdict{}
	}
	return when(slowTPOT(s.tpot.P50, floor) && s.ttft.P50 < slowTTFTMS, func() Verdict {
		r := slowDecode{
			hardware: h.hardware(), ttft: s.ttft.P50, tpot: s.tpot.P50, gap: h.now().Client.Gap.P50, floor: floor,
			running: h.engineMean(recent, running), kv: h.engineMean(recent, fullest),
		}
		for _, p := range h.pauses() {
			if p.reading {
				r.read++
			}
		}
		return r.verdict()
	})
}

// cause names what limits decoding, as far as the hardware shows.
func (r *slowDecode) cause() (cause, advice string) {
	switch {
	case r.read >= slowDecodeReads && r.gap <= r.tpot/2:
		return "prompts being read in between, most gaps take " + units.Millis(r.gap),
			"smaller chunks of prefill, shorter prompts, or separate engines for prefill"
	case r.dram.OK && r.dram.V >= boundDRAM && r.kv.Or(0) >= slowDecodeKV:
		return "memory bandwidth, with a KV cache " + units.Share(r.kv.V) + " full to read",
			"fewer or shorter contexts, a smaller KV format, or more GPUs"
	case r.dram.OK && r.dram.V >= boundDRAM:
		return "memory bandwidth", "smaller weights or KV format, a faster GPU, or more of them"
	case r.tensor.OK && r.tensor.V >= slowDecodeTensor:
		return "compute, DRAM is not busy", "a smaller batch, shorter prompts between the steps, or more GPUs"
	case r.idles() && r.gpus > 1:
		return "the GPUs wait, for the host or for each other", "check the communication between the GPUs, and the engine's CPU"
	case r.idles():
		return "the GPU waits for the host", "check the engine's CPU, its scheduler and CUDA graphs"
	case r.running.OK && r.running.V >= slowDecodeBatch:
		return "a batch of " + units.Whole(r.running.V), "lower the engine's limit of sequences, or add replicas"
	}
	return "", "check the batch size, memory bandwidth, the length of contexts, and communication between GPUs"
}

func (r *slowDecode) verdict() Verdict {
	cause, advice := r.cause()
	text := fmt.Sprintf("decoding is slow, the first token is not: TPOT %s", units.Millis(r.tpot))
	if cause != "" {
		text += ": " + cause
	}
	evidence := []string{fmt.Sprintf("p50 of TPOT %s, of TTFT %s; %.1f tokens/s for each stream", units.Millis(r.tpot), units.Millis(r.ttft), 1000/r.tpot)}
	if r.floor.OK && r.floor.V > 0 && r.tpot >= r.floor.V {
		evidence = append(evidence, fmt.Sprintf("%s the hardware's floor of %s", units.Ratio(r.tpot/r.floor.V), units.Millis(r.floor.V)))
	}
	if r.running.OK && r.kv.OK {
		evidence = append(evidence, fmt.Sprintf("the engine runs %s at once, KV cache %s full", units.Count(r.running.V, "request"), units.Share(r.kv.V)))
	}
	if r.sm.OK && r.dram.OK {
		evidence = append(evidence, fmt.Sprintf("SM %s, DRAM %s of peak", units.Share(r.sm.V), units.Share(r.dram.V)))
	}
	return Verdict{Severity: Info, Text: text, Evidence: evidence, Advice: advice}
}
