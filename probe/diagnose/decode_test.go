package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

func TestBandwidthBound(t *testing.T) {
	bound := func(spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			f.GPU.GPUs[0].DRAM = opt.Of(0.71)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	healthyWith(t, bound(nil), "bandwidth_bound", "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms, queue empty")
	floor := func(ms float64) *Judge {
		return bound(func(f *frame.Frame) { f.Roofline.TPOTFloorMS = opt.Of(ms) })
	}
	healthyWith(t, floor(4), "bandwidth_bound", "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms = 2.5× the floor of 4.00 ms, queue empty")
	healthyWith(t, floor(12), "bandwidth_bound", "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms, queue empty")
	none(t, "DRAM half used", scene(nil), "bandwidth_bound")
	none(t, "DRAM unknown", bound(func(f *frame.Frame) { f.GPU.GPUs[0].DRAM = opt.Float{} }), "bandwidth_bound")
	none(t, "requests queue", bound(func(f *frame.Frame) { f.Engine.Reading.Waiting = opt.Of(1) }), "bandwidth_bound")
	none(t, "queue unknown", bound(func(f *frame.Frame) { f.Engine.Have = false }), "bandwidth_bound")
	none(t, "all in prefill", bound(func(f *frame.Frame) { f.Client.Prefill = 16 }), "bandwidth_bound")
	none(t, "compute is busy", bound(func(f *frame.Frame) { f.GPU.GPUs[0].Tensor = opt.Of(0.8) }), "bandwidth_bound")
	none(t, "the load just changed", bound(func(f *frame.Frame) {
		if f.At > 28*time.Second {
			f.Load.Level = 2
		}
	}), "bandwidth_bound")
}

func TestSlowDecode(t *testing.T) {
	slow := func(ttft, tpot float64, spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			timed(short(&f.Requests[0]), ttft, tpot)
			f.Client.TTFT, f.Client.TPOT = dist(120, ttft, ttft), dist(120, tpot, tpot)
			f.Engine.Reading.TTFT = histogram(4*f.At.Seconds(), ttft/1000)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	gpu := func(sm, dram, tensor float64) func(*frame.Frame) {
		return func(f *frame.Frame) {
			f.GPU.GPUs[0].SM, f.GPU.GPUs[0].DRAM, f.GPU.GPUs[0].Tensor = opt.Of(sm), opt.Of(dram), opt.Of(tensor)
		}
	}
	for _, c := range []struct {
		spoil func(*frame.Frame)
		cause string
	}{
		{nil, ""},
		{gpu(0.9, 0.5, 0.5), ", bound by compute"},
		{gpu(0.3, 0.2, 0.1), ", as the GPU waits for the host"},
		{func(f *frame.Frame) { f.Engine.Reading.Running, f.Client.InFlight = opt.Of(64), 64 }, ", with a batch of 64"},
	} {
		only(t, slow(300, 105, c.spoil), "slow_decode", Info, "decode is slow, TTFT is not: TPOT 105 ms"+c.cause)
	}
	j := slow(300, 105, func(f *frame.Frame) { f.Roofline.TPOTFloorMS = opt.Of(21) })
	want := []string{"TPOT p50 105 ms, TTFT p50 300 ms; 9.5 tokens/s per stream", "5.0 times the hardware's floor of 21.0 ms",
		"the engine runs 16 requests at once, KV cache 50 % full", "SM 90 %, DRAM 50 % of peak"}
	if got := j.Strongest().Evidence; !slices.Equal(got, want) {
		t.Errorf("evidence %q", got)
	}
	only(t, slow(300, 60, func(f *frame.Frame) { f.Roofline.TPOTFloorMS = opt.Of(15) }), "slow_decode", Info, "decode is slow, TTFT is not: TPOT 60.0 ms")
	none(t, "near the floor", slow(300, 60, func(f *frame.Frame) { f.Roofline.TPOTFloorMS = opt.Of(16) }), "slow_decode")
	none(t, "both are slow", slow(3000, 105, nil), "slow_decode")
	none(t, "fast", slow(300, 20, nil), "slow_decode")
	none(t, "few samples", slow(300, 105, func(f *frame.Frame) {
		if f.At <= 27750*time.Millisecond {
			f.Requests = nil
		}
	}), "slow_decode")
}

// answer gives a request gaps that rise evenly from the first to the last value.
func answer(r *measure.Request, first, last float32) {
	for i := range 255 {
		r.GapsMS = append(r.GapsMS, first+(last-first)*float32(i)/254)
	}
}

func TestAnswerGrowth(t *testing.T) {
	rising := func(last float32, spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			answer(&f.Requests[0], 10, last)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	// From 10 to 26 ms: 16 ms at 3/8 of the answer, 24 ms at 7/8.
	only(t, rising(26, nil), "answer_growth", Info, "gaps grow during a response: at its end they are 1.5 times what they are early on")
	none(t, "even", rising(10, nil), "answer_growth")
	none(t, "spanning a change of load", rising(26, func(f *frame.Frame) { f.Requests[0].Level = 0 }), "answer_growth")
	none(t, "only some of them", rising(26, func(f *frame.Frame) {
		if f.Seq%2 == 0 {
			f.Requests[0].GapsMS = nil
			answer(&f.Requests[0], 10, 10)
		}
	}), "answer_growth")
}

func TestPastKnee(t *testing.T) {
	// Level 1 has 16 streams and 1024 tokens/s, level 2 other figures.
	// A request of 256 tokens takes 2.75 s at level 1: 200 ms and 255 gaps of 10 ms. By Little's
	// law it takes to/16 × 256/tokens times as long at level 2.
	step := func(to, tokens int, spoil func(*frame.Frame)) *Judge {
		e2e := 2750 * float64(to) / 16 * 256 / float64(tokens)
		return scene(func(f *frame.Frame) {
			f.Load.Settled = true
			if f.At > 15*time.Second {
				f.Load.Level, f.Load.Requested.Concurrency, f.Client.SliceOutTokens = 2, to, tokens
				f.Client.InFlight, f.Engine.Reading.Running = to, opt.Of(float64(to))
				timed(&f.Requests[0], 200, (e2e-200)/255)
				if spoil != nil {
					spoil(f)
				}
			}
		})
	}
	if v := step(32, 258, nil).Strongest(); v.Rule != "past_knee" || v.Severity != Warn || !strings.HasPrefix(v.Text, "past the knee: from 16 to 32 streams") {
		t.Errorf("%+v", v)
	}
	none(t, "it grew by a half", step(32, 384, nil), "past_knee")
	j := step(32, 258, nil) // has filled a Book, which another Judge shares
	frames := slices.Clone(j.history.frames)
	shares := func(levels *level.Book) *Judge {
		other := New()
		other.Share(levels)
		for _, f := range frames {
			other.Add(f)
		}
		return other
	}
	if v := shares(j.Book()).Strongest(); v.Rule != "past_knee" {
		t.Errorf("by the Book of another Judge: %+v", v)
	}
	empty := level.NewBook(nil)
	none(t, "the shared Book is empty", shares(empty), "past_knee")
	if n := len(empty.Levels()); n != 0 {
		t.Errorf("a Judge filled a Book that is not its own: %d levels", n)
	}
	none(t, "there is no Book", shares(nil), "past_knee")
	if j = step(32, 320, nil); !slices.Contains(rules(j), "past_knee") { // 1.25 times: power 16²·1.25²/32² of before
		t.Errorf("a quarter more output for twice the streams: %v", rules(j))
	}
	none(t, "a small step", step(20, 258, nil), "past_knee")
	none(t, "down", step(8, 230, nil), "past_knee")
	none(t, "other lengths", step(32, 258, func(f *frame.Frame) { f.Load.Requested.InputTokens = 8000 }), "past_knee")
	none(t, "not settled", step(32, 258, func(f *frame.Frame) { f.Load.Settled = false }), "past_knee")
	none(t, "answers take longer than it lasted", step(32, 258, func(f *frame.Frame) { timed(&f.Requests[0], 200, 30) }), "past_knee")
}

// far lets every n-th request be slower.
func far(n uint64, ttft, tpot float64, spoil func(*frame.Frame)) *Judge {
	return scene(func(f *frame.Frame) {
		timed(short(&f.Requests[0]), 200, 10)
		if f.Seq%n == 0 {
			timed(&f.Requests[0], ttft, tpot)
			if spoil != nil {
				spoil(f)
			}
		}
	})
}

func TestTails(t *testing.T) {
	// Of some 110 requests three are slow, so that p99 is one of them.
	only(t, far(40, 2080, 10, nil), "ttft_tail", Warn, "TTFT p99 2.08 s is 10 times its p50 of 200 ms: a few requests are far slower")
	only(t, far(40, 200, 80, nil), "tpot_tail", Warn, "TPOT p99 80.0 ms is 8.0 times its p50 of 10.0 ms: a few requests are far slower")
	only(t, far(40, 2080, 10, func(f *frame.Frame) { f.Requests[0].InTokens, f.Requests[0].RequestedIn = 9000, 9000 }), "ttft_tail", Warn,
		"TTFT p99 2.08 s is 10 times its p50 of 200 ms: slow requests have long prompts, 9000 tokens instead of 1031")
	only(t, far(40, 200, 80, func(f *frame.Frame) { f.Requests[0].GapsMS = []float32{4000} }), "tpot_tail", Warn,
		"TPOT p99 80.0 ms is 8.0 times its p50 of 10.0 ms: slow requests stood still for up to 4.00 s")
	none(t, "near", far(40, 900, 10, nil), "ttft_tail")
	none(t, "a few milliseconds", far(40, 200, 40, nil), "tpot_tail")
	none(t, "of another load", scene(func(f *frame.Frame) {
		if f.Seq%40 == 0 {
			timed(&f.Requests[0], 2080, 10)
		}
		if f.At > 20*time.Second {
			f.Load.Level = 2
		}
	}), "ttft_tail")
	none(t, "too few for a p99", far(40, 2080, 10, func(f *frame.Frame) { f.Requests = f.Requests[:1] }), "tpot_tail")
}

func TestLengths(t *testing.T) {
	lengths := func(in, out int) *Judge {
		return scene(func(f *frame.Frame) {
			f.Requests[0].InTokens, f.Requests[0].OutTokens, f.Requests[0].Finish = in, out, "stop"
		})
	}
	only(t, lengths(1031, 37), "short_output", Info, "responses are shorter than requested: 37 of 256 tokens")
	only(t, lengths(1231, 256), "prompt_length", Info, "prompts are 1231 tokens long instead of the requested 1024")
	none(t, "nearly", lengths(1031, 240), "short_output")
	none(t, "nearly", lengths(1100, 256), "prompt_length")
	none(t, "of a data file", scene(func(f *frame.Frame) { f.Requests[0].RequestedIn, f.Requests[0].RequestedOut = 0, 0 }), "prompt_length")
}

func TestVerdictsAreSorted(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		f.Engine.Reading.KVFillMax = opt.Of(1)
		f.Health.Bottleneck = true
		f.Client.TokensPerChunk = opt.Of(4)
	})
	got := rules(j)
	want := []Rule{"client_bottleneck", "kv_full", "tokens_per_chunk"}
	if !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}
