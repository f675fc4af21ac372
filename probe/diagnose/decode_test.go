package diagnose

import (
	"testing"
	"time"

	"sonde/probe"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

func TestBandwidthBound(t *testing.T) {
	bound := func(spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			f.GPU.GPUs[0].DRAM = opt.Of(0.71)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, bound(nil), "bandwidth_bound", Note, "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms, queue empty")
	floor := func(ms float64) *Judge {
		return bound(func(f *probe.Frame) { f.Roofline.TPOTFloorMS = opt.Of(ms) })
	}
	only(t, floor(4), "bandwidth_bound", Note, "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms = 2.5× the floor of 4.0 ms, queue empty")
	only(t, floor(12), "bandwidth_bound", Note, "decode is bound by memory bandwidth: DRAM 71 % of peak, TPOT 10.0 ms, queue empty")
	none(t, "DRAM half used", scene(nil), "bandwidth_bound")
	none(t, "DRAM unknown", bound(func(f *probe.Frame) { f.GPU.GPUs[0].DRAM = opt.Float{} }), "bandwidth_bound")
	none(t, "requests queue", bound(func(f *probe.Frame) { f.Engine.Reading.Waiting = opt.Of(1) }), "bandwidth_bound")
	none(t, "queue unknown", bound(func(f *probe.Frame) { f.Engine.Have = false }), "bandwidth_bound")
	none(t, "all in prefill", bound(func(f *probe.Frame) { f.Client.Prefill = 16 }), "bandwidth_bound")
	none(t, "compute is busy", bound(func(f *probe.Frame) { f.GPU.GPUs[0].Tensor = opt.Of(0.8) }), "bandwidth_bound")
	none(t, "the load just changed", bound(func(f *probe.Frame) {
		if f.At > 28*time.Second {
			f.Load.Level = 2
		}
	}), "bandwidth_bound")
}

func TestSlowDecode(t *testing.T) {
	slow := func(ttft, tpot float64, n int) *Judge {
		return scene(func(f *probe.Frame) { f.Client.TTFT, f.Client.TPOT = dist(n, ttft, ttft), dist(n, tpot, tpot) })
	}
	j := slow(300, 125, 120)
	only(t, j, "slow_decode", Note, "decoding is slow, the first token is not: TPOT 125 ms, 8.0 tokens/s for each stream")
	if got := j.Strongest().Evidence; len(got) != 2 || got[1] != "the engine runs 16 requests at once, KV cache 50 % full" {
		t.Errorf("evidence %q", got)
	}
	none(t, "both are slow", slow(3000, 125, 120), "slow_decode")
	none(t, "fast", slow(300, 20, 120), "slow_decode")
	none(t, "few samples", slow(300, 125, 9), "slow_decode")
}

// answer gives a request gaps that rise evenly from the first to the last value.
func answer(r *measure.Request, first, last float32) {
	for i := range 255 {
		r.GapsMS = append(r.GapsMS, first+(last-first)*float32(i)/254)
	}
}

func TestAnswerGrowth(t *testing.T) {
	rising := func(last float32, spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			answer(&f.Requests[0], 10, last)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	// From 10 to 26 ms: 16 ms at 3/8 of the answer, 24 ms at 7/8.
	only(t, rising(26, nil), "answer_growth", Note, "gaps grow along an answer: 1.5 times longer at its end than early on")
	none(t, "even", rising(10, nil), "answer_growth")
	none(t, "spanning a change of load", rising(26, func(f *probe.Frame) { f.Requests[0].Level = 0 }), "answer_growth")
	none(t, "only some of them", rising(26, func(f *probe.Frame) {
		if f.Seq%2 == 0 {
			f.Requests[0].GapsMS = nil
			answer(&f.Requests[0], 10, 10)
		}
	}), "answer_growth")
}

func TestPastKnee(t *testing.T) {
	// Level 1 has 16 streams, level 2 another number.
	step := func(to int, throughput float64, spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			f.Load.Settled = true
			f.Client.Level = probe.LevelStats{TTFT: dist(50, 200, 300), OutTokensPerS: 1142}
			if f.At > 15*time.Second {
				f.Load.Level, f.Load.Asked.Concurrency = 2, to
				f.Client.Level = probe.LevelStats{TTFT: dist(50, 2000, 3000), OutTokensPerS: throughput}
				if spoil != nil {
					spoil(f)
				}
			}
		})
	}
	only(t, step(32, 1150, nil), "past_knee", Warn, "past the knee: from 16 to 32 streams output went from 1142 to 1150 tokens/s")
	none(t, "it grew", step(32, 1500, nil), "past_knee")
	none(t, "a small step", step(20, 1150, nil), "past_knee")
	none(t, "down", step(8, 900, nil), "past_knee")
	none(t, "other lengths", step(32, 1150, func(f *probe.Frame) { f.Load.Asked.InputTokens = 8000 }), "past_knee")
	none(t, "not settled", step(32, 1150, func(f *probe.Frame) { f.Load.Settled = false }), "past_knee")
}

func TestTails(t *testing.T) {
	with := func(ttft, tpot measure.Summary, spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			f.Client.TTFT, f.Client.TPOT = ttft, tpot
			if spoil != nil {
				spoil(f)
			}
		})
	}
	fine, far := dist(412, 10, 20), dist(412, 200, 2080)
	only(t, with(far, fine, nil), "ttft_tail", Warn, "TTFT p99 2.1 s is 10 times its p50 of 200 ms: a few requests are far slower")
	only(t, with(fine, dist(412, 90, 936), nil), "tpot_tail", Warn, "TPOT p99 936 ms is 10 times its p50 of 90.0 ms: a few requests are far slower")
	none(t, "near", with(dist(412, 200, 900), fine, nil), "ttft_tail")
	none(t, "too few for a p99", with(dist(99, 200, 2080), fine, nil), "ttft_tail")
	none(t, "a few milliseconds", with(dist(412, 2, 20), fine, nil), "ttft_tail")
	none(t, "two loads in the window", with(far, fine, func(f *probe.Frame) {
		if f.At > 20*time.Second {
			f.Load.Level = 2
		}
	}), "ttft_tail")
}

func TestLengths(t *testing.T) {
	lengths := func(in, out int) *Judge {
		return scene(func(f *probe.Frame) {
			f.Requests[0].InTokens, f.Requests[0].OutTokens, f.Requests[0].Finish = in, out, "stop"
		})
	}
	only(t, lengths(1031, 37), "short_output", Note, "answers are shorter than asked: 37 of 256 tokens")
	only(t, lengths(1231, 256), "prompt_length", Note, "prompts are 1231 tokens long, 1024 were asked for")
	none(t, "nearly", lengths(1031, 240), "short_output")
	none(t, "nearly", lengths(1100, 256), "prompt_length")
	none(t, "of a data file", scene(func(f *probe.Frame) { f.Requests[0].AskedIn, f.Requests[0].AskedOut = 0, 0 }), "prompt_length")
}

func TestVerdictsAreSorted(t *testing.T) {
	j := scene(func(f *probe.Frame) {
		f.Engine.Reading.KVFillMax = opt.Of(1)
		f.Health.Bottleneck = true
		f.Client.TokensPerChunk = opt.Of(4)
	})
	got := rules(j)
	want := []string{"client_bottleneck", "kv_full", "tokens_per_chunk"}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}
