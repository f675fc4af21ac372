package diagnose

import (
	"slices"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

func TestClientBottleneck(t *testing.T) {
	slow := func(after time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			if f.At > after {
				f.Health.Bottleneck, f.Health.Why, f.Health.LateMsP99 = true, "this process uses all cores", 41
			}
		})
	}
	only(t, slow(20*time.Second), "client_bottleneck", Bad, "this client is the bottleneck, not the server: this process uses all cores")
	none(t, "for a second", slow(29*time.Second), "client_bottleneck")
}

// A share of the last 5 s needs 5 s: a client is busy while it starts.
func TestClientBottleneckWaitsForItsWindow(t *testing.T) {
	j := New()
	for at := tick; at <= 5*time.Second; at += tick {
		f := healthy(at)
		f.Health.Bottleneck, f.Health.Why = true, "this process uses all cores"
		j.Add(f)
		if got := slices.Contains(rules(j), "client_bottleneck"); got != (at == 5*time.Second) {
			t.Errorf("after %v the client is the bottleneck: %v", at, got)
		}
	}
}

func TestEveryRequestFails(t *testing.T) {
	bad := func(f *frame.Frame) {
		f.Requests = []measure.Request{fail(measure.HTTP5xx, "boom")}
		f.Client, f.Streams = measure.Client{InFlight: 4, Prefill: 4}, nil
	}
	only(t, scene(bad), "all_fail", Bad, "every request fails: http_5xx: boom")
	none(t, "one works", scene(func(f *frame.Frame) {
		if bad(f); f.Seq == 116 {
			f.Requests = append(f.Requests, ok(f.At))
		}
	}), "all_fail")
	none(t, "a stream gets tokens", scene(func(f *frame.Frame) { bad(f); f.Client.Prefill, f.Client.SliceOutTokens = 3, 9 }), "all_fail")
	none(t, "only two", scene(func(f *frame.Frame) {
		if bad(f); f.Seq > 2 {
			f.Requests = nil
		}
	}), "all_fail")
}

func TestSomeRequestsFail(t *testing.T) {
	every := func(n uint64, class measure.Class) *Judge {
		return scene(func(f *frame.Frame) {
			if f.Seq%n == 0 {
				f.Requests = []measure.Request{fail(class, "cut")}
			}
		})
	}
	only(t, every(10, measure.Truncated), "some_fail", Warn, "10 % of requests fail, mostly truncated: cut")
	only(t, every(40, measure.Truncated), "some_fail", Info, "3 of 120 requests failed: truncated: cut")
	none(t, "cancelled by us", every(3, measure.Cancelled), "some_fail")
	none(t, "refusals", every(10, measure.RateLimited), "some_fail")
}

func TestRateLimits(t *testing.T) {
	refusing := func(every uint64, message string) *Judge {
		return scene(func(f *frame.Frame) {
			if f.Seq%every == 0 {
				f.Requests = append(f.Requests, fail(measure.RateLimited, message))
			}
		})
	}
	only(t, refusing(10, "Rate limit on tokens per min (TPM): limit 30000"), "rate_limits", Warn,
		"tokens-per-minute limit reached: 12 of 132 requests refused")
	only(t, refusing(10, "RPM exceeded"), "rate_limits", Warn, "requests-per-minute limit reached: 12 of 132 requests refused")
	only(t, refusing(10, "slow down"), "rate_limits", Warn, "rate limit reached: 12 of 132 requests refused")
	none(t, "two refusals", refusing(50, "slow down"), "rate_limits")
}

func TestClumps(t *testing.T) {
	share := func(coalesced int, spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			f.Requests[0].Coalesced = coalesced
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, share(250, nil), "clumps", Warn, "tokens arrive in clumps: 98 % of chunks arrived together with the previous one")
	none(t, "a few", share(50, nil), "clumps")
	none(t, "our own fault", share(250, func(f *frame.Frame) { f.Health.Bottleneck = true }), "clumps")
	none(t, "few chunks", share(250, func(f *frame.Frame) { f.Requests[0].Chunks = 0 }), "clumps")
}

func TestManyTokensPerChunk(t *testing.T) {
	holding := func(n opt.Float, estimated bool) *Judge {
		return scene(func(f *frame.Frame) { f.Client.TokensPerChunk, f.Client.TokensEstimated = n, estimated })
	}
	healthyWith(t, holding(opt.Of(3.96), false), "tokens_per_chunk", "a chunk holds 4.0 tokens on average, so a gap is not the time per token")
	none(t, "one", holding(opt.Of(1.1), false), "tokens_per_chunk")
	none(t, "unknown", holding(opt.Float{}, false), "tokens_per_chunk")
	none(t, "estimated", holding(opt.Of(4), true), "tokens_per_chunk")
}

// A tenth of a token in each chunk cannot be: usage leaves reasoning out.
func TestFewerTokensThanChunks(t *testing.T) {
	holding := func(n float64, estimated bool) *Judge {
		return scene(func(f *frame.Frame) { f.Client.TokensPerChunk, f.Client.TokensEstimated = opt.Of(n), estimated })
	}
	only(t, holding(0.09, false), "token_counts", Warn, "the server counts 0.09 tokens per chunk of text, so TPOT and tokens/s contradict the gaps")
	none(t, "nearly one", holding(0.95, false), "token_counts")
	none(t, "estimated", holding(0.09, true), "token_counts")
}

func TestLongOutput(t *testing.T) {
	answers := func(requested, got int) *Judge {
		return scene(func(f *frame.Frame) {
			f.Load.Requested.OutputTokens = requested
			f.Requests[0].RequestedOut, f.Requests[0].OutTokens = requested, got
		})
	}
	only(t, answers(128, 256), "long_output", Info, "responses are longer than requested: 256 of 128 tokens")
	none(t, "a little", answers(250, 256), "long_output")
	none(t, "the end counted", answers(1, 2), "long_output")
	none(t, "shorter", answers(512, 256), "long_output")
}
