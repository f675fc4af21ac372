package diagnose

import (
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// clocked is a scene in which the first GPU runs at 1980 MHz, and at so many later.
func clocked(laterMHz float64, spoil func(f *frame.Frame)) *Judge {
	return scene(func(f *frame.Frame) {
		g := &f.GPU.GPUs[0]
		g.SMClock, g.PowerLimit, g.Power = opt.Of(1980e6), opt.Of(700), opt.Of(500)
		if f.At > 20*time.Second {
			g.SMClock = opt.Of(laterMHz * 1e6)
		}
		if spoil != nil {
			spoil(f)
		}
	})
}

func TestThrottledGPU(t *testing.T) {
	only(t, clocked(1500, nil), "gpu_throttled", Warn, "the GPU is throttled to 1500 of 1980 MHz")
	only(t, clocked(1500, func(f *frame.Frame) { f.GPU.GPUs[0].Power = opt.Of(698) }), "gpu_throttled", Info,
		"the GPU is throttled to 1500 of 1980 MHz: it draws 698 of 700 W")
	only(t, clocked(1500, func(f *frame.Frame) { f.GPU.GPUs[0].Temperature = opt.Of(91) }), "gpu_throttled", Warn,
		"the GPU is throttled to 1500 of 1980 MHz: it has reached 91 °C")
	none(t, "a little lower", clocked(1700, nil), "gpu_throttled")
	none(t, "it has nothing to do", clocked(400, func(f *frame.Frame) {
		if f.At > 20*time.Second {
			f.GPU.GPUs[0].SM = opt.Of(0.02)
		}
	}), "gpu_throttled")
	none(t, "never seen higher", clocked(1500, func(f *frame.Frame) { f.GPU.GPUs[0].SMClock = opt.Of(1500e6) }), "gpu_throttled")
	none(t, "a clock that was high in idleness", clocked(1500, func(f *frame.Frame) {
		if f.At <= 20*time.Second {
			f.GPU.GPUs[0].SM = opt.Of(0)
		}
	}), "gpu_throttled")
	none(t, "the GPU of another machine", clocked(1500, func(f *frame.Frame) { f.GPU.Source = "nvml" }), "gpu_throttled")
	none(t, "clock unknown", clocked(1500, func(f *frame.Frame) { f.GPU.GPUs[0].SMClock = opt.Float{} }), "gpu_throttled")
	only(t, clocked(1500, func(f *frame.Frame) { // since before the session began
		g := &f.GPU.GPUs[0]
		g.SMClock, g.Temperature, g.Overheated = opt.Of(564e6), opt.Of(88), true
	}), "gpu_throttled", Warn, "the GPU is throttled to 564 MHz: it has reached 88 °C")
	none(t, "hot only now and again", clocked(1500, func(f *frame.Frame) {
		g := &f.GPU.GPUs[0]
		g.SMClock, g.Overheated = opt.Of(1500e6), int(f.At/time.Second)%2 == 0
	}), "gpu_throttled")
	// The lower one of two is named.
	two := clocked(1500, func(f *frame.Frame) {
		second := f.GPU.GPUs[0]
		second.ID, second.Index = "GPU-b", 1
		if f.At > 20*time.Second {
			second.SMClock = opt.Of(990e6)
		}
		f.GPU.GPUs = append(f.GPU.GPUs, second)
	})
	only(t, two, "gpu_throttled", Warn, "the GPU is throttled to 990 of 1980 MHz")
	if got := two.Strongest().Evidence[1]; got != "GPU 1, one of 2" {
		t.Errorf("evidence %q", got)
	}
}

// SM 0 % beside busy 99 % and 640 W, as gpu.Checked leaves it.
func TestGPUCountersThatContradictEachOther(t *testing.T) {
	doubted := func(spoil func(f *frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			g := &f.GPU.GPUs[0]
			g.SM, g.DRAM, g.Tensor, g.Busy, g.Power = opt.Float{}, opt.Float{}, opt.Float{}, opt.Of(0.99), opt.Of(640)
			g.Doubts, g.Note = gpu.DoubtCounters, "the counters contradict each other: SM at 0 beside busy 99 % and 640 W, not shown"
			if spoil != nil {
				spoil(f)
			}
		})
	}
	j := doubted(nil)
	only(t, j, "gpu_doubts", Info, "the GPU's counters cannot be right; doubtful values are not shown")
	if got := j.Strongest(); got.Rule != "gpu_doubts" {
		t.Errorf("the strongest verdict is %s", got.Rule)
	}
	none(t, "the GPU of another machine", doubted(func(f *frame.Frame) { f.GPU.Source = "nvml" }), "gpu_doubts")
	none(t, "no doubt", doubted(func(f *frame.Frame) { f.GPU.GPUs[0].Doubts = 0 }), "gpu_doubts")
	old := func(doubts gpu.Doubts) *Judge {
		return doubted(func(f *frame.Frame) {
			f.Target.Started = time.Unix(1000, 0)
			f.GPU.At, f.GPU.GPUs[0].Doubts = f.Target.Started.Add(-time.Minute), doubts
		})
	}
	only(t, old(gpu.DoubtFrozen), "gpu_doubts", Info, "the GPU's counters cannot be right; doubtful values are not shown")
	none(t, "readings that are a minute old", old(gpu.DoubtCounters), "gpu_doubts")
}
