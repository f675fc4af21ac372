package diagnose

import (
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

func TestHealthy(t *testing.T) {
	only(t, scene(nil), "healthy", Healthy, "healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
}

func TestHealthyWithoutEngineAndGPU(t *testing.T) {
	only(t, scene(func(f *frame.Frame) { f.Engine, f.GPU = engine.Status{}, gpu.Status{} }),
		"healthy", Healthy, "healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
}

func TestNothingSeen(t *testing.T) {
	only(t, New(), "no_data", Unknown, "nothing has been measured yet")
}

func TestNoLoad(t *testing.T) {
	idle := func(f *frame.Frame) {
		f.Load, f.Client, f.Requests = frame.LoadState{}, measure.Client{}, nil
	}
	only(t, scene(idle), "no_load", Unknown, "no load yet")
}

// A session that only watches says what the engine does for others, and invites to nothing.
func TestWatching(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		f.Load, f.Client, f.Requests = frame.LoadState{Watch: true}, measure.Client{}, nil
		f.Engine.Reading.Running, f.Engine.Reading.Waiting = opt.Of(54), opt.Of(3)
	})
	v := j.Verdicts()[len(j.Verdicts())-1]
	if v.Rule != "no_load" || v.Text != "watching, nothing is sent: the engine runs 54 requests, 3 waiting" || v.Advice != "" {
		t.Errorf("%+v", v)
	}
}

func TestNotEnoughData(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		f.Client.TTFT, f.Client.TPOT, f.Client.Gap = dist(3, 200, 300), dist(3, 10, 14), dist(99, 10, 14)
		if f.At > time.Second {
			f.Requests = nil
		}
	})
	if v := j.Strongest(); v.Rule != "not_enough_data" || v.Severity != Unknown {
		t.Errorf("%+v", v)
	}
}

func TestLoadingModel(t *testing.T) {
	loading := func(f *frame.Frame) {
		f.Requests = []measure.Request{fail(measure.Loading, "loading")}
		f.Client = measure.Client{InFlight: 1, Prefill: 1}
		f.Engine.Have = false
	}
	only(t, scene(loading), "loading", Bad, "the server is still loading its model")
	none(t, "a success later", scene(func(f *frame.Frame) {
		if f.At < 10*time.Second {
			loading(f)
		}
	}), "loading")
}

func TestOldFramesAreForgotten(t *testing.T) {
	j := scene(func(f *frame.Frame) { f.Requests = []measure.Request{fail(measure.HTTP5xx, "boom")} })
	for at := 30*time.Second + tick; at <= 61*time.Second; at += tick {
		j.Add(healthy(at))
	}
	if got := j.Strongest().Rule; got != "healthy" {
		t.Errorf("strongest is %s", got)
	}
	if n := len(j.history.frames); n != int(keep/tick) {
		t.Errorf("%d Frames are kept", n)
	}
}

func TestWords(t *testing.T) {
	for ms, want := range map[float64]string{14.06: "14.1 ms", 99.96: "100 ms", 412.4: "412 ms", 999.6: "1.00 s", 2351: "2.35 s", 61000: "61.0 s"} {
		if got := units.Millis(ms); got != want {
			t.Errorf("%v is %q, want %q", ms, got, want)
		}
	}
	for share, want := range map[float64]string{0.713: "71 %", 0.004: "0.4 %", 0: "0 %", 1: "100 %"} {
		if got := units.Share(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

// Before the load begins by itself it would be wrong to ask for more of it.
func TestBeforeTheLoad(t *testing.T) {
	for stage, says := range map[frame.Stage]string{
		frame.StageConnecting: "connecting: looking for the model and the engine",
		frame.StageLoading:    "the server is loading its model",
		frame.StageFitting:    "fitting the prompt length: asking the server how many tokens a prompt has",
	} {
		only(t, scene(func(f *frame.Frame) {
			f.Load, f.Client, f.Requests = frame.LoadState{Stage: stage}, measure.Client{}, nil
		}), "before_load", Unknown, says)
	}
	// An operator who did not wait has a load, and verdicts on it.
	only(t, scene(func(f *frame.Frame) { f.Load.Stage = frame.StageFitting }), "healthy", Healthy,
		"healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
}

// A sweep steps from an overloaded level down to one that is well: the live window of 30 s
// still holds the slow answers of the level before, with a TTFT p95 of 2.4 s. The verdict
// on the present level is of its own requests: each has a TTFT of 200 ms and a TPOT of
// 2,550 ms / 255 = 10 ms.
func TestHealthyTellsThePresentLoad(t *testing.T) {
	j := New()
	for at := 60*time.Second + tick; at <= 72*time.Second; at += tick {
		f := healthy(at)
		f.Load.Level = 2
		f.Client.TTFT, f.Client.TPOT = dist(120, 2000, 3000), dist(120, 30, 40)
		for i := range f.Requests {
			f.Requests[i].Level = 2
		}
		j.Add(f)
	}
	only(t, j, "healthy", Healthy, "healthy: TTFT p95 200 ms, TPOT p95 10.0 ms, no failures")
}

// Right after a step there are no requests of the new load yet: those of the old one tell
// nothing about it.
func TestHealthIsNotThatOfAnotherLoad(t *testing.T) {
	j := New()
	for at := 60*time.Second + tick; at <= 62*time.Second; at += tick {
		f := healthy(at)
		f.Load.Level = 2 // its requests are of level 1
		j.Add(f)
	}
	only(t, j, "not_enough_data", Unknown, "not enough data yet: 0 of 10 requests")
}
