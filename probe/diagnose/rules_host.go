package diagnose

import (
	"fmt"
	"time"
)

// hostBound finds a GPU that stands idle between decode steps: each step waits for
// the CPU, the scheduler or another GPU.
type hostBound struct {
	tpot, floor float64 // ms
	sm, dram    float64
	gpus        int
}

func (r *hostBound) check(h *history) outcome {
	const idleSM, idleDRAM, above = 0.6, 0.35, 2.5
	s, floor := h.atLoad(), h.now().Roofline.TPOTFloorMS
	active, memory := h.gpuMean(recent, sm), h.gpuMean(recent, dram)
	if s.tpot.N < enough || !floor.OK || floor.V <= 0 || !active.OK || !memory.OK {
		return unclear
	}
	if !h.decodesAll(recent) {
		return absent // it may have nothing to do
	}
	r.tpot, r.floor, r.sm, r.dram, r.gpus = s.tpot.P50, floor.V, active.V, memory.V, len(h.now().GPU.GPUs)
	return found(r.sm < idleSM && r.dram < idleDRAM && r.tpot >= above*r.floor)
}

// decodesAll tells that some stream got tokens in every slice of the newest d.
func (h *history) decodesAll(d time.Duration) bool {
	frames, ok := h.steady(d)
	for _, f := range frames {
		ok = ok && f.Client.SliceOutTokens > 0 && f.Client.InFlight > f.Client.Prefill
	}
	return ok
}

func (r *hostBound) verdict() Verdict {
	const slow = 25 // ms: 40 tokens per second
	v := Verdict{
		Level: Note, aside: r.tpot < slow,
		Says: fmt.Sprintf("the GPU waits between steps: SM %s, DRAM %s, TPOT %s is %s its floor",
			percent(r.sm), percent(r.dram), millis(r.tpot), times(r.tpot/r.floor)),
		Evidence: []string{fmt.Sprintf("TPOT floor of this hardware %s; streams decode all the time", millis(r.floor))},
		Advice:   "look at the engine's CPU and scheduler, at CUDA graphs, and at other processes on the host",
	}
	if r.gpus > 1 {
		v.Advice += "; with several GPUs also at the links between them"
	}
	return v
}
