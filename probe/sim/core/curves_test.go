package core

import (
	"testing"
	"time"
)

// plenty is a machine whose KV cache does not limit anything here.
func plenty() Options { return Options{KVGB: 50} }

// A step of one stream reads 15.0 GB of weights and its KV. At the bandwidth peak of
// 2,039 GB/s that is 7.4 ms; the engine is to stay within the attainable 0.8 of it and
// the millisecond of its overhead.
func TestSingleStreamIsNearTheFloor(t *testing.T) {
	got := closedLoop{streams: 1, ask: varied(256, 128), warmup: 10 * time.Second, window: 10 * time.Minute}.run(newBench(t, plenty()))
	floor := 15.01e9 / 2039e9
	if tpot := mean(got.tpot); tpot < floor || tpot > floor/0.8+0.001 {
		t.Errorf("TPOT of a single stream is %.2f ms, with a floor of %.2f ms", tpot*1e3, floor*1e3)
	}
}

// The rate rises with concurrency, then stays; once all sequences run, more of them
// only wait.
func TestRateSaturatesAndTTFTTakesOff(t *testing.T) {
	o := plenty()
	o.MaxSeqs = 32
	levels := []int{1, 2, 4, 8, 16, 32, 48, 128}
	rate, ttft := map[int]float64{}, map[int]float64{}
	for _, c := range levels {
		got := closedLoop{streams: c, ask: varied(256, 128), warmup: 20 * time.Second, window: 100 * time.Second}.run(newBench(t, o))
		rate[c], ttft[c] = got.outputPerS, quantile(got.ttft, 0.95)
		t.Logf("%4d streams: %6.0f tokens/s, TTFT p95 %6.0f ms, TPOT %4.1f ms", c, rate[c], ttft[c]*1e3, mean(got.tpot)*1e3)
	}
	for i, c := range levels[1:] {
		less := levels[i]
		switch {
		case c <= o.MaxSeqs && rate[c] < 1.3*rate[less]:
			t.Errorf("from %d to %d streams the rate goes from %.0f to %.0f tokens/s", less, c, rate[less], rate[c])
		case c > o.MaxSeqs && (rate[c] < 0.97*rate[32] || rate[c] > 1.06*rate[32]):
			t.Errorf("the rate at %d streams is %.0f tokens/s, on a plateau of %.0f", c, rate[c], rate[32])
		}
	}
	// Four times as many streams as run: three quarters of a request's life are spent
	// waiting, three times what it takes to be served. That is 128 tokens at the pace of
	// 32 sequences.
	served := 32 * 128 / rate[32]
	near(t, "TTFT p95 with 4 streams per place", ttft[128], 3*served, 0.2)
	if ttft[32] > 0.1*served {
		t.Errorf("TTFT p95 is %.2f s while every stream has its place", ttft[32])
	}
}

// Even where KV runs out and sequences lose theirs, the total stays near the best.
func TestOverloadDoesNotCollapse(t *testing.T) {
	best := 0.0
	for _, c := range []int{32, 64, 128, 256} {
		b := newBench(t, Options{}) // KV for 32,768 tokens: 68 answers of 256 + 128 + 16 in the middle
		got := closedLoop{streams: c, ask: varied(256, 256), warmup: 30 * time.Second, window: time.Minute}.run(b)
		total := got.outputPerS
		best = max(best, total)
		if c >= 64 && total < 0.95*best {
			t.Errorf("%d streams make %.0f tokens/s, fewer than the best %.0f", c, total, best)
		}
		if c == 256 && b.core.stats.Preemptions == 0 {
			t.Error("nobody was preempted: this shows nothing")
		}
	}
}

// Without chunks a 16k prompt holds up everybody for its whole prefill; with them each
// iteration takes a bounded part of it.
func TestLongPromptInterferesLessInChunks(t *testing.T) {
	worst := func(unchunked bool) (before, during float64) {
		gaps := func(input func(n int) int) float64 {
			short := varied(128, 200)
			l := closedLoop{streams: 8, warmup: 5 * time.Second, window: time.Minute, ask: func(n int) Request {
				return exactly(prompt(input(n), uint32(n)), short(n).MaxTokens)
			}}
			return quantile(l.run(newBench(t, Options{KVGB: 20, Unchunked: unchunked, TokenBudget: 512})).gaps, 1)
		}
		before = gaps(func(int) int { return 128 })
		return before, gaps(func(n int) int {
			if n == 50 { // once, in the middle
				return 16000
			}
			return 128
		})
	}
	whole0, whole := worst(true)
	chunked0, chunked := worst(false)
	t.Logf("worst gaps: %.0f → %.0f ms whole, %.0f → %.0f ms in chunks", whole0*1e3, whole*1e3, chunked0*1e3, chunked*1e3)
	// 16,000 × 16.06 GFLOP and 6.7e13 for attention at 187 TFLOP/s are 1.73 s.
	near(t, "gap behind the whole prompt", whole, 1.73, 0.05)
	if whole < 2*whole0 {
		t.Errorf("the gap grows from %.3f to %.3f s only", whole0, whole)
	}
	if chunked > whole/10 {
		t.Errorf("in chunks the worst gap is still %.3f of %.3f s", chunked, whole)
	}
}

// A step reads the KV of all tokens before it: at 131,072 bytes a token and 0.8 ×
// 2,039 GB/s, 80 µs more for every thousand tokens.
func TestTPOTGrowsLinearlyWithContext(t *testing.T) {
	b := newBench(t, Options{KVGB: 10, MaxModelLen: 40000})
	s := b.submit(exactly(prompt(1000, 1), 30000))
	b.drain()
	gaps := b.gaps[s]
	var n, sx, sy, sxx, sxy, syy float64
	for i, g := range gaps {
		x, y := float64(1000+i), g.Seconds()
		n, sx, sy, sxx, sxy, syy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y, syy+y*y
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	r2 := slope * slope * (n*sxx - sx*sx) / (n*syy - sy*sy)
	near(t, "seconds per token of context", slope, 131072/(0.8*2039e9), 0.001)
	if r2 < 0.9999 {
		t.Errorf("the fit of a line explains %.5f of it", r2)
	}
}

// Prefill of cached tokens costs nothing, so that TTFT falls by their share. Attention
// makes later tokens a little dearer than earlier ones: 4,000 tokens cost 6.4e13 FLOP
// and 4.2e12 for attention.
func TestPrefixHitsCutTTFTByTheirShare(t *testing.T) {
	const tokens = 4000
	ttft := func(cached int) float64 {
		b := newBench(t, Options{})
		if cached > 0 {
			b.submit(exactly(prompt(tokens, 1)[:cached], 1))
			b.drain()
		}
		s := b.submit(exactly(prompt(tokens, 1), 1))
		b.drain()
		if s.Cached != cached {
			t.Fatalf("%d tokens of %d were found", s.Cached, cached)
		}
		return (s.First - s.Arrived).Seconds()
	}
	none := ttft(0)
	for _, cached := range []int{1008, 2000, 3008} { // whole blocks
		near(t, "TTFT with a cached part", ttft(cached)/none, 1-float64(cached)/tokens, 0.07)
	}
}

func TestLittlesLawInAClosedLoop(t *testing.T) {
	for _, c := range []int{4, 100} { // of 64 places
		o := plenty()
		o.MaxSeqs = 64
		got := closedLoop{streams: c, ask: varied(200, 100), warmup: 2 * time.Minute, window: 5 * time.Minute}.run(newBench(t, o))
		near(t, "rate × time in the engine", got.perS*got.e2e, float64(c), 0.02)
		near(t, "requests in flight", got.inFlight, float64(c), 1e-6)
	}
}
