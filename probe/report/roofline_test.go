package report

import (
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// fourStreams are in flight for 3.901 of 4 s: 8 tokens in, 100 out, one each 39 ms.
func fourStreams(plan bench.Plan, adjust func(*frame.Frame)) Roofline {
	one := stream(0, 40, 39, 100)
	plan.Load, plan.Duration = closed, 4*time.Second
	return summarise(plan, frames(5*time.Second, closed, reqs(one, one, one, one), adjust)).Roofline
}

func TestRooflineOfARun(t *testing.T) {
	limits, err := roofline.Parse("Llama-3.1-8B@H100")
	if err != nil {
		t.Fatal(err)
	}
	got := fourStreams(bench.Plan{}, func(f *frame.Frame) { f.Limits = &limits })
	// 15.0098 GB of weights and 3.901 × 58 tokens × 131072 bytes at 3350 GB/s
	near(t, "TPOT floor", got.TPOTFloorMS, 4.48937)
	// one read of the weights: 8 prompt tokens take less arithmetic than that
	near(t, "TTFT floor", got.TTFTFloorMS, 4.48052)
	near(t, "MBU", got.MBU, 4.48937/39)
	// 32 + 400 tokens in 4 s, 2 × 8.0303e9 FLOP each, of 989 TFLOP/s
	near(t, "MFU", got.MFU, 108*2*8.0303e9/989e12)

	running := func(f *frame.Frame) {
		f.Limits = &limits
		f.Engine = engine.Status{Have: true, Reading: engine.Reading{Running: opt.Of(32)}}
	}
	// The engine's word on the batch goes before ours: 32 × 58 × 131072 bytes.
	near(t, "TPOT floor of a batch of 32", fourStreams(bench.Plan{}, running).TPOTFloorMS, 4.55314)
}

func TestRooflineFoundByItself(t *testing.T) {
	seen := func(model, device string) func(*frame.Frame) {
		return func(f *frame.Frame) {
			f.Engine.Identity.Model = model
			f.GPU = gpu.Status{Source: "dcgm", GPUs: []gpu.Reading{{ID: "a", Name: device}}}
		}
	}
	near(t, "TPOT floor", fourStreams(bench.Plan{}, seen("sim/Llama-3.1-8B", "NVIDIA H100 80GB HBM3")).TPOTFloorMS, 4.48937)
	for what, adjust := range map[string]func(*frame.Frame){
		"nothing": nil, "no model": seen("my-model", "NVIDIA H100 80GB HBM3"), "no GPU": seen("Llama-3.1-8B", "Voodoo 2"),
	} {
		if got := fourStreams(bench.Plan{}, adjust); got != (Roofline{}) {
			t.Errorf("%s is known, and still %+v", what, got)
		}
	}
}
