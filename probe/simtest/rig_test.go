package simtest

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// The whole way, from the request to the Frame, costs no time of its own: what is
// measured is what the engine's arithmetic says. An iteration of one stream reads
// (8.03e9 − 0.525e9) weights × 2 bytes at 0.8 × 2039 GB/s, which is 9.2 ms, and
// has 0.608 ms of overhead; its KV cache adds up to 0.03 ms.
func TestVirtualTimeIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start(t, sim.Options{}, probe.Options{Load: frame.Load{Concurrency: 1}})
		requests, last := 0, (*frame.Frame)(nil)
		began := time.Now()
		r.Play(5*time.Minute, func(f *frame.Frame) {
			requests += len(f.Requests)
			last = f
		})
		if passed := time.Since(began); passed != 5*time.Minute {
			t.Errorf("%v passed", passed)
		}
		if got := last.Client.TPOT; math.Abs(got.P50-9.83) > 0.03 {
			t.Errorf("TPOT p50 %.3f ms, want 9.83", got.P50)
		}
		// 300 s of answers of 128 tokens: TTFT 0.023 s and 127 gaps of 9.83 ms.
		if want := 300 / (0.023 + 127*0.00983); math.Abs(float64(requests)-want) > 0.02*want {
			t.Errorf("%d requests, want %.0f", requests, want)
		}
		if last.Engine.Reading.Running.V != 1 || !last.GPU.GPUs[0].SM.OK {
			t.Errorf("engine %+v, GPU %+v", last.Engine, last.GPU)
		}
	})
}
