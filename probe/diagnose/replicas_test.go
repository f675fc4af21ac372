package diagnose

import (
	"testing"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"time"
)

// twoSpeeds has a request of another TPOT (ms) at every n-th, with prompts of so
// many tokens.
func twoSpeeds(n uint64, tpot float32, tokens int, spoil func(f *frame.Frame)) *Judge {
	return scene(func(f *frame.Frame) {
		r, ms := short(&f.Requests[0]), float32(10)
		if f.Seq%n == 0 {
			ms, r.InTokens, r.RequestedIn = tpot, tokens, tokens
		}
		for range 63 {
			r.GapsMS = append(r.GapsMS, ms)
		}
		timed(r, 200, float64(ms))
		if spoil != nil {
			spoil(f)
		}
	})
}

func TestUnevenReplicas(t *testing.T) {
	// Of the 116 requests that began after the first second 29 are slow.
	only(t, twoSpeeds(4, 18, 1031, nil), "uneven_replicas", Warn, "uneven replicas: 25 % of requests decode at 18.0 ms per token, the others at 10.0 ms")
	none(t, "near each other", twoSpeeds(4, 14, 1031, nil), "uneven_replicas")
	none(t, "the slow ones have longer prompts", twoSpeeds(4, 18, 2000, nil), "uneven_replicas")
	none(t, "one after the other", scene(func(f *frame.Frame) {
		r, ms := short(&f.Requests[0]), float32(10)
		if f.Seq > 60 {
			ms = 18
		}
		for range 63 {
			r.GapsMS = append(r.GapsMS, ms)
		}
	}), "uneven_replicas")
	none(t, "a stall in some of them", scene(func(f *frame.Frame) {
		r := short(&f.Requests[0])
		for range 62 {
			r.GapsMS = append(r.GapsMS, 10)
		}
		if f.Seq%4 == 0 {
			r.GapsMS = append(r.GapsMS, 1000)
		}
	}), "uneven_replicas")
	none(t, "of many speeds", scene(func(f *frame.Frame) {
		r := short(&f.Requests[0])
		for range 63 {
			r.GapsMS = append(r.GapsMS, 10+float32(f.Seq%9))
		}
	}), "uneven_replicas")
}

func TestReplicasGone(t *testing.T) {
	fleet := func(gone ...engine.Gone) *Judge {
		return scene(func(f *frame.Frame) { f.Engine.Reading.Replicas, f.Engine.Reading.Gone = 2, gone })
	}
	only(t, fleet(engine.Gone{Name: "vllm-2", Since: time.Date(2026, 12, 2, 14, 2, 0, 0, time.UTC)}), "replicas_gone", Warn, "1 of 3 replicas gone since 14:02: vllm-2")
	none(t, "all there", fleet(), "replicas_gone")
}
