package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
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
	newest, floor := h.lately((*measure.Request).TPOT), h.now().Roofline.TPOTFloorMS
	active, memory := h.gpuMean(recent, sm), h.gpuMean(recent, dram)
	if newest.N < enough || !floor.OK || floor.V <= 0 || !active.OK || !memory.OK {
		return unclear
	}
	if !h.decodes(recent) {
		return absent // it may have nothing to do
	}
	r.tpot, r.floor, r.sm, r.dram, r.gpus = newest.P50, floor.V, active.V, memory.V, len(h.now().GPU.GPUs)
	return found(r.sm < idleSM && r.dram < idleDRAM && r.tpot >= above*r.floor)
}

// decodes tells that some stream got tokens nearly all the time in the newest d, but
// for the time in which one of our prompts was read.
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

func (r *hostBound) verdict() Verdict {
	const slow = 25 // ms: 40 tokens per second
	v := Verdict{
		Severity: Info, aside: r.tpot < slow,
		Text: fmt.Sprintf("the GPU waits between steps: SM %s, DRAM %s, TPOT %s is %s its floor",
			percent(r.sm), percent(r.dram), millis(r.tpot), times(r.tpot/r.floor)),
		Evidence: []string{fmt.Sprintf("TPOT floor of this hardware %s; streams decode all the time", millis(r.floor))},
		Advice:   "look at the engine's CPU and scheduler, at CUDA graphs, and at other processes on the host",
	}
	if r.gpus > 1 {
		v.Advice += "; with several GPUs also at the links between them"
	}
	return v
}
