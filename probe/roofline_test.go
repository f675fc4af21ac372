package probe

import (
	"math"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// serving is a Frame of a model on one H100 that a local server shows.
func serving() *frame.Frame {
	f := &frame.Frame{At: time.Minute}
	f.Target.Host = "127.0.0.1:8000"
	f.Engine.Identity.Model, f.Engine.Identity.Kind, f.Engine.Identity.Name = "Llama-3.1-8B", "vllm", "vLLM"
	f.GPU = gpu.Status{Source: "nvml", GPUs: []gpu.Reading{{ID: "a", Name: "NVIDIA H100 80GB HBM3"}}}
	f.Client.Window = 30 * time.Second
	f.Client.InputTokens, f.Client.OutputTokens, f.Client.ConcurrencyMean = opt.Of(1984), opt.Of(128), opt.Of(16)
	f.Client.TPOT.N, f.Client.TPOT.Mean = 1, 14.0894
	return f
}

func TestRooflineOfAFrame(t *testing.T) {
	p := &roofline{}
	f := serving()
	f.Engine.Have, f.Engine.Reading.Running = true, opt.Of(24)
	p.add(f, nil)
	f = serving()
	f.Engine.Have, f.Engine.Reading.Running = true, opt.Of(40)
	f.At += time.Second
	p.add(f, nil)
	got := f.Roofline
	// A batch of 32 with 1984 + 64 tokens: (15.01 + 8.59) GB at 3350 GB/s, half of 14.0894 ms
	if math.Abs(got.TPOTFloorMS.V-7.0447) > 1e-3 || math.Abs(got.MBU.V-0.5) > 1e-3 || got.Why != "" {
		t.Errorf("%+v", got)
	}
	// A minute later nothing is left of what the engine said; our 16 streams count.
	f = serving()
	f.At += time.Minute
	p.add(f, nil)
	if got := f.Roofline; math.Abs(got.TPOTFloorMS.V-5.7626) > 1e-3 {
		t.Errorf("with our own concurrency: %+v", got)
	}
}

func TestNoRooflineHasAReason(t *testing.T) {
	for want, spoil := range map[string]func(*frame.Frame){
		"no GPU of the server can be seen": func(f *frame.Frame) { f.Target.Host = "gpu-box:8000" },
		"Ollama does not say how the weights are quantised": func(f *frame.Frame) {
			f.Engine.Identity.Kind, f.Engine.Identity.Name = "ollama", "Ollama"
		},
		"the model is not known":     func(f *frame.Frame) { f.Engine.Identity.Model = "" },
		"no answer with counted":     func(f *frame.Frame) { f.Client.OutputTokens = opt.Float{} },
		"how many share the model":   func(f *frame.Frame) { f.GPU.GPUs = append(f.GPU.GPUs, gpu.Reading{ID: "b", Name: "NVIDIA L4"}) },
		"requests in flight is not ": func(f *frame.Frame) { f.Client.ConcurrencyMean = opt.Float{} },
	} {
		f := serving()
		spoil(f)
		new(roofline).add(f, nil)
		if got := f.Roofline; got.TPOTFloorMS.OK || got.MBU.OK || !strings.Contains(got.Why, want) {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

func TestWhatWasAskedForGoesFirst(t *testing.T) {
	asked := gpu.Roofline{GPUs: 3}
	if got, err := RooflineOf(&asked, serving()); err != nil || got.GPUs != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}
