package probe

import (
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/roofline"
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
	p := &bounds{}
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
		"no GPU of the server is visible": func(f *frame.Frame) { f.Target.Host = "gpu-box:8000" },
		"Ollama does not report how the weights are quantised": func(f *frame.Frame) {
			f.Engine.Identity.Kind, f.Engine.Identity.Name = "ollama", "Ollama"
		},
		"the model is unknown":             func(f *frame.Frame) { f.Engine.Identity.Model = "" },
		"no response with counted":         func(f *frame.Frame) { f.Client.OutputTokens = opt.Float{} },
		"how many of them share the model": func(f *frame.Frame) { f.GPU.GPUs = append(f.GPU.GPUs, gpu.Reading{ID: "b", Name: "NVIDIA L4"}) },
		"requests in flight is unknown":    func(f *frame.Frame) { f.Client.ConcurrencyMean = opt.Float{} },
	} {
		f := serving()
		spoil(f)
		new(bounds).add(f, nil)
		if got := f.Roofline; got.TPOTFloorMS.OK || got.MBU.OK || !strings.Contains(got.Why, want) {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

func TestRequestedRooflineGoesFirst(t *testing.T) {
	f := serving()
	(&bounds{requested: &roofline.Roofline{GPUs: 3}}).add(f, nil)
	if f.Limits == nil || f.Limits.GPUs != 3 {
		t.Errorf("%+v", f.Limits)
	}
}

// The folder of the model hangs, as on a mount whose server is gone: Frames close all
// the same, and once it answers the file has been read one time for all of them.
func TestSlowModelFolderDelaysNoFrame(t *testing.T) {
	var reads atomic.Int32
	answer := make(chan struct{})
	b := &bounds{shapes: shapes{read: func(k shapeKey) (roofline.Model, error) {
		reads.Add(1)
		<-answer
		return roofline.Shape("Llama-3.1-8B", roofline.ModelInfo{}, false)
	}}}
	tick := func() *frame.Frame {
		f := serving()
		f.Target.ModelInfo.Path = "/models/llama"
		b.add(f, nil)
		return f
	}
	for range 50 {
		if f := tick(); f.Limits != nil || f.Roofline.Why != errReadingShape.Error() {
			t.Fatalf("%+v", f.Roofline)
		}
	}
	close(answer)
	for deadline := time.Now().Add(10 * time.Second); tick().Limits == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the shape was never used")
		}
	}
	for range 50 {
		tick()
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("the file was read %d times", n)
	}
}

// Another model asks anew, and an answer for the earlier one comes too late.
func TestShapeOfAnEarlierModelIsDropped(t *testing.T) {
	late := make(chan struct{})
	s := &shapes{read: func(k shapeKey) (roofline.Model, error) {
		if k.model == "old" {
			<-late
		}
		return roofline.Model{Name: k.model}, nil
	}}
	local := roofline.ModelInfo{Path: "/models/x"}
	if _, err := s.of(shapeKey{"old", local, true}); err != errReadingShape {
		t.Error(err)
	}
	if m, err := s.of(shapeKey{"new", roofline.ModelInfo{}, true}); err != nil || m.Name != "new" {
		t.Error(m, err)
	}
	close(late)
	s.set(shapeKey{"old", local, true}, roofline.Model{Name: "old"}, nil)
	if m, _ := s.of(shapeKey{"new", roofline.ModelInfo{}, true}); m.Name != "new" {
		t.Error(m)
	}
}
