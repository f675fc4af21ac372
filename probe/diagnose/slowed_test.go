package diagnose

import (
	"testing"
	"time"

	"sonde/probe/frame"
)

// from10s has another TTFT and TPOT (ms) after a third of the time.
func from10s(ttft, tpot float64, spoil func(f *frame.Frame)) *Judge {
	return scene(func(f *frame.Frame) {
		r := short(&f.Requests[0])
		if f.At > 10*time.Second {
			timed(r, ttft, tpot)
		} else {
			timed(r, 200, 10)
		}
		f.Engine.Have = false
		if spoil != nil {
			spoil(f)
		}
	})
}

func TestSlowed(t *testing.T) {
	only(t, from10s(200, 16, nil), "slowed", Info, "slower than before at the same load: TPOT 16.0 ms, was 10.0 ms (1.6 times)")
	only(t, from10s(600, 10, nil), "slowed", Info, "slower than before at the same load: TTFT 600 ms, was 200 ms (3.0 times)")
	none(t, "a little", from10s(200, 13.5, nil), "slowed")
	none(t, "TTFT twice as long", from10s(400, 10, nil), "slowed")
	none(t, "it got faster", from10s(100, 5, nil), "slowed")
	none(t, "at another load", from10s(200, 16, func(f *frame.Frame) {
		if f.At > 10*time.Second {
			f.Load.Level, f.Requests[0].Level = 2, 2
		}
	}), "slowed")
	none(t, "prompts of a file", from10s(600, 10, func(f *frame.Frame) { f.Load.Requested.InputTokens = 0 }), "slowed")
	none(t, "an open loop, by chance", from10s(200, 16, func(f *frame.Frame) { f.Load.Requested.Rate = 4 }), "slowed")
	none(t, "statistics emptied since", from10s(200, 16, func(f *frame.Frame) {
		if f.At == 15*time.Second {
			f.Events = []frame.Event{{Kind: frame.EventReset}}
		}
	}), "slowed")
}
