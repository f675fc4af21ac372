package diagnose

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// bandwidth is a scene in which DRAM is busy.
func bandwidth(spoil func(f *frame.Frame)) *Judge {
	return scene(func(f *frame.Frame) {
		f.GPU.GPUs[0].DRAM = opt.Of(0.71)
		spoil(f)
	})
}

func TestBandwidthNeedsFreshReadings(t *testing.T) {
	heldFrom := func(at, period time.Duration) func(f *frame.Frame) {
		return func(f *frame.Frame) {
			if f.GPU.Period = period; f.At > at {
				f.GPU.At = epoch.Add(at)
			}
		}
	}
	none(t, "six periods old", bandwidth(heldFrom(24*time.Second, time.Second)), "bandwidth_bound")
	none(t, "older than the mean", bandwidth(heldFrom(24*time.Second, 0)), "bandwidth_bound")
	none(t, "the engine's word is old", bandwidth(func(f *frame.Frame) {
		f.Engine.Reading.At = epoch.Add(min(f.At, 24*time.Second))
	}), "bandwidth_bound")
}

func TestBandwidthBySeldomReadings(t *testing.T) {
	// A value every ten seconds, the newest of 24 s.
	seldom := func(changed time.Duration) *Judge {
		return bandwidth(func(f *frame.Frame) {
			f.GPU.Period = 10 * time.Second
			f.GPU.At = epoch.Add(24*time.Second - 10*time.Second*((33750*time.Millisecond-f.At)/(10*time.Second)))
			if f.At > changed {
				f.Load.Level = 2
			}
		})
	}
	j := seldom(time.Hour)
	healthyWith(t, j, "bandwidth_bound", "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms, queue empty")
	if got := j.Verdicts()[1].Evidence[0]; got != "busiest GPU, from a reading 6 s old, up to 16 streams in flight" {
		t.Errorf("evidence %q", got)
	}
	none(t, "of another load", seldom(20*time.Second), "bandwidth_bound")
}

func TestBandwidthNeedsTokens(t *testing.T) {
	none(t, "no token for 1.5 s", bandwidth(func(f *frame.Frame) {
		if f.At > 28500*time.Millisecond {
			f.Client.SliceOutTokens, f.Requests = 0, nil
		}
	}), "bandwidth_bound")
}

func TestCountersOfASilentEngine(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		if f.At > 10*time.Second {
			f.Engine.Reading.Preemptions = opt.Of(20)
		}
		f.Engine.Reading.At = epoch.Add(min(f.At.Truncate(time.Second), 15*time.Second))
	})
	none(t, "silent for 15 s", j, "preemptions")
}

func TestPreemptionsOfTheLoadBefore(t *testing.T) {
	changed := func(at time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			if f.At >= 27*time.Second {
				f.Engine.Reading.Preemptions = opt.Of(20)
			}
			if f.At > at {
				f.Load.Level = 2
			}
		})
	}
	none(t, "lowered since", changed(29*time.Second), "preemptions")
	only(t, changed(5*time.Second), "preemptions", Warn, "the KV cache is too small for this load: 13 preemptions in 25 s")
}

func TestHealthyNeedsTokensNow(t *testing.T) {
	quiet := func(inFlight int) *Judge {
		return scene(func(f *frame.Frame) {
			if f.At > 27*time.Second {
				f.Client.SliceOutTokens, f.Requests, f.Streams = 0, nil, nil
				f.Client.InFlight, f.Client.Prefill, f.Client.OldestWaiting = inFlight, 0, 0
			}
		})
	}
	only(t, quiet(4), "quiet", Unknown, "no token for 3 s, 4 requests in flight")
	only(t, quiet(0), "healthy", Healthy, "healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
}

func TestLoadTakenAway(t *testing.T) {
	only(t, scene(func(f *frame.Frame) {
		if f.At > 28*time.Second {
			f.Load.Requested.Concurrency, f.Client.InFlight, f.Client.Prefill, f.Client.OldestWaiting = 0, 0, 0, 0
			f.Requests, f.Streams, f.Client.SliceOutTokens = nil, nil, 0
		}
	}), "no_load", Unknown, "no load now")
}
