package diagnose

import (
	"fmt"

	"sonde/probe/opt"
)

const (
	// slowTPOTMS is ten tokens per second for a stream: slower than people read.
	slowTPOTMS = 100
	// quickTPOTMS is twenty: no slower than people read, whatever the floor is.
	quickTPOTMS = 50
	// farAboveFloor is how many times the hardware's floor a step may take until
	// decoding counts as slow.
	farAboveFloor = 4
	// slowTTFTMS is a second before anything is seen.
	slowTTFTMS = 1000
)

// slowTPOT tells that decoding is slow: for a reader, or for this hardware.
func slowTPOT(tpot float64, floor opt.Float) bool {
	return tpot >= slowTPOTMS || tpot >= quickTPOTMS && floor.OK && tpot >= farAboveFloor*floor.V
}

// slowDecode finds tokens that come slowly although the first one does not.
type slowDecode struct {
	ttft, tpot        float64   // p50, ms
	floor             opt.Float // ms
	running, kv       opt.Float
	sm, dram, compute opt.Float
	gpus              int
	gap               float64 // p50, ms
	read              int     // pauses in which prompts of ours were read
}

func (r *slowDecode) check(h *history) outcome {
	s := h.atLoad()
	if s.tpot.N < enough || s.ttft.N < enough {
		return unclear
	}
	r.ttft, r.tpot, r.floor = s.ttft.P50, s.tpot.P50, h.now().Roofline.TPOTFloorMS
	r.kv = h.engineMean(recent, fullest)
	r.running = h.engineMean(recent, running)
	r.sm, r.dram, r.compute = h.gpuMean(recent, sm), h.gpuMean(recent, dram), h.gpuMean(recent, tensor)
	r.gpus, r.gap = len(h.now().GPU.GPUs), h.now().Client.Gap.P50
	for _, p := range h.pauses() {
		if p.reading {
			r.read++
		}
	}
	return found(slowTPOT(r.tpot, r.floor) && r.ttft < slowTTFTMS)
}

// cause names what limits decoding, as far as the hardware tells.
func (r *slowDecode) cause() (cause, advice string) {
	const busy, idle, tensorBusy, largeBatch = 0.6, 0.4, 0.4, 32
	switch {
	case r.read >= 3 && r.gap <= r.tpot/2:
		return "prompts that are read in between, most gaps take " + millis(r.gap),
			"smaller chunks of prefill, shorter prompts, or engines of their own for prefill"
	case r.dram.OK && r.dram.V >= busy && r.kv.Or(0) >= 0.5:
		return "memory bandwidth, with a KV cache " + percent(r.kv.V) + " full to read",
			"fewer or shorter contexts, a smaller KV format, or more GPUs"
	case r.dram.OK && r.dram.V >= busy:
		return "memory bandwidth", "smaller weights or KV format, a faster GPU, or more of them"
	case r.compute.OK && r.compute.V >= tensorBusy:
		return "arithmetic, DRAM is not busy", "a smaller batch, shorter prompts between the steps, or more GPUs"
	case r.sm.OK && r.dram.OK && r.sm.V < idle+0.1 && r.dram.V < idle && r.gpus > 1:
		return "the GPUs wait, for the host or for each other", "look at the communication between the GPUs and at the engine's CPU"
	case r.sm.OK && r.dram.OK && r.sm.V < idle+0.1 && r.dram.V < idle:
		return "the GPU waits for the host", "look at the engine's CPU, its scheduler and CUDA graphs"
	case r.running.OK && r.running.V >= largeBatch:
		return "a batch of " + count(r.running.V), "lower the engine's limit of sequences, or add replicas"
	}
	return "", "look at the batch size, memory bandwidth, the KV cache's length, and communication between GPUs"
}

func (r *slowDecode) verdict() Verdict {
	cause, advice := r.cause()
	says := fmt.Sprintf("decoding is slow, the first token is not: TPOT %s", millis(r.tpot))
	if cause != "" {
		says += ": " + cause
	}
	evidence := []string{fmt.Sprintf("p50 of TPOT %s, of TTFT %s; %.1f tokens/s for each stream", millis(r.tpot), millis(r.ttft), 1000/r.tpot)}
	if r.floor.OK && r.floor.V > 0 && r.tpot >= r.floor.V {
		evidence = append(evidence, fmt.Sprintf("%s the hardware's floor of %s", times(r.tpot/r.floor.V), millis(r.floor.V)))
	}
	if r.running.OK && r.kv.OK {
		evidence = append(evidence, fmt.Sprintf("the engine runs %s requests at once, KV cache %s full", count(r.running.V), percent(r.kv.V)))
	}
	if r.sm.OK && r.dram.OK {
		evidence = append(evidence, fmt.Sprintf("SM %s, DRAM %s of peak", percent(r.sm.V), percent(r.dram.V)))
	}
	return Verdict{Severity: Info, Text: says, Evidence: evidence, Advice: advice}
}
