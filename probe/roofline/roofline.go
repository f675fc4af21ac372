// Package roofline bounds what a model can do on its hardware. It knows the shapes of
// models and the peaks of GPUs, and reads no hardware: the names of GPUs and the
// engine's own report come from its callers.
package roofline

import (
	"fmt"
	"math"

	"sonde/probe/opt"
)

// Roofline is a model on its hardware. A step cannot be faster than its memory
// traffic at the bandwidth peak, nor than its arithmetic at the FLOP/s peak; the
// longer of the two is its floor. Everything here is per GPU of a tensor
// parallel group.
type Roofline struct {
	Model  Model
	Device Peaks // of one GPU
	GPUs   int   // that share the model; 0 is 1
}

// Work is the measured load that a Roofline judges.
type Work struct {
	Batch         opt.Float // mean requests in flight
	Input, Output opt.Float // mean tokens of a request
	Cached        opt.Float // share of the prompt that a prefix cache answered; unknown counts as none
	TPOTMS        opt.Float // mean, ms
	InPerS        opt.Float // prompt tokens per second, cached ones included
	OutPerS       opt.Float // generated tokens per second
}

// Bounds are what the Roofline says about measured work. Why says what is missing
// where a figure is unknown.
type Bounds struct {
	TPOTFloorMS opt.Float `json:"tpot_floor_ms"`     // least time per output token, ms
	TTFTFloorMS opt.Float `json:"ttft_floor_ms"`     // least time to prefill the mean prompt, ms
	MBU         opt.Float `json:"mbu"`               // share of the bandwidth peak that decoding used
	MFU         opt.Float `json:"mfu"`               // share of the FLOP/s peak that all tokens used
	Assumes     string    `json:"assumes,omitempty"` // behind the figures, for people
	Why         string    `json:"why,omitempty"`     // why there are none; "" if there are
}

// TPOTFloor is the least duration in ms of a decode step of batch sequences with that
// many tokens of context each: one token for each of them. Without a FLOP/s peak
// it is that of the memory traffic, which is a lower bound, too.
func (r Roofline) TPOTFloor(batch, context float64) float64 {
	batch = math.Max(1, batch) // a step without a sequence does not happen
	floor := r.decodeBytes(batch, context) / r.Device.Bandwidth
	if r.hasFLOPs() {
		floor = math.Max(floor, 2*r.Model.ActiveParams*batch/r.gpus()/r.flops())
	}
	return 1e3 * floor
}

// TTFTFloor is the least duration in ms of the prefill of a prompt, of which the first
// cached tokens are in the prefix cache already. The weights have to be read at
// least once, which is what binds for short prompts.
func (r Roofline) TTFTFloor(prompt, cached float64) float64 {
	fresh := prompt - cached
	arithmetic := (2*r.Model.ActiveParams*fresh + r.Model.AttentionFLOP(cached, fresh)) / r.gpus() / r.flops()
	bytes := r.Model.WeightsRead(fresh)/r.gpus() + r.kvBytes(cached)
	return 1e3 * math.Max(bytes/r.Device.Bandwidth, arithmetic)
}

// MBU is the memory bandwidth utilisation of decoding: the bytes that a step has
// to read, over the time that it took and the peak. It does not count prefill
// between the steps.
func (r Roofline) MBU(batch, context, tpotMS float64) float64 {
	return r.decodeBytes(math.Max(1, batch), context) / (tpotMS / 1e3) / r.Device.Bandwidth
}

// MFU is the model FLOP/s utilisation: 2 FLOP for every active parameter and
// every token that was computed, prompt and answer, over the peak. Attention is
// not counted.
func (r Roofline) MFU(tokensPerS float64) float64 {
	return 2 * r.Model.ActiveParams * tokensPerS / r.gpus() / r.flops()
}

// Judge sets measured work against the peaks. Every figure needs all its terms.
func (r Roofline) Judge(w Work) Bounds {
	b := Bounds{Assumes: r.Assumptions()}
	if !isPositive(w.Input) || !isPositive(w.Output) {
		b.Why = "no response with counted tokens yet"
		return b
	}
	cached := math.Min(1, math.Max(0, w.Cached.Or(0)))
	if r.hasFLOPs() {
		b.TTFTFloorMS = opt.Of(r.TTFTFloor(w.Input.V, cached*w.Input.V))
	}
	if w.InPerS.OK && w.OutPerS.OK && r.hasFLOPs() {
		b.MFU = opt.Of(r.MFU(w.InPerS.V*(1-cached) + w.OutPerS.V))
	}
	if !isPositive(w.Batch) {
		b.Why = "the number of requests in flight is unknown"
		return b
	}
	context := w.Input.V + w.Output.V/2 // in the middle of its answer
	b.TPOTFloorMS = opt.Of(r.TPOTFloor(w.Batch.V, context))
	if isPositive(w.TPOTMS) {
		b.MBU = opt.Of(r.MBU(w.Batch.V, context, w.TPOTMS.V))
	}
	b.Assumes = fmt.Sprintf("%.1f sequences of %.0f tokens of context; %s", math.Max(1, w.Batch.V), context, b.Assumes)
	return b
}

// Assumptions says what the figures rest on.
func (r Roofline) Assumptions() string {
	about := ""
	if r.Device.Approximate {
		about = "about "
	}
	device := r.Device.Name
	if r.GPUs > 1 {
		device = fmt.Sprintf("%d × %s in tensor parallel, each", r.GPUs, device)
	}
	text := fmt.Sprintf("%s; %s: %s%.4g TB/s", r.Model.Assumptions(), device, about, r.Device.Bandwidth/1e12)
	if !r.hasFLOPs() {
		return text + ", FLOP/s unknown and not counted"
	}
	return text + fmt.Sprintf(" and %s%.4g TFLOP/s", about, r.flops()/1e12)
}

// decodeBytes are what one GPU reads in a decode step.
func (r Roofline) decodeBytes(batch, context float64) float64 {
	return r.Model.WeightsRead(batch)/r.gpus() + batch*r.kvBytes(context)
}

// kvBytes are what one GPU reads of one sequence's KV cache. Its heads are spread
// over the GPUs until there are none left to spread; a latent cache, which has
// none, lies on every GPU.
func (r Roofline) kvBytes(context float64) float64 {
	shards := math.Min(r.gpus(), math.Max(1, float64(r.Model.KVHeads)))
	return r.Model.KVBytes(context) / shards
}

func (r Roofline) gpus() float64 { return math.Max(1, float64(r.GPUs)) }

// flops is the peak of one GPU for the arithmetic that the weights need.
func (r Roofline) flops() float64 { return r.Device.FLOPs(r.Model.EightBit) }

// hasFLOPs reports whether the arithmetic has a known peak.
func (r Roofline) hasFLOPs() bool { return r.flops() > 0 }

func isPositive(f opt.Float) bool { return f.OK && f.V > 0 }
