package core

import (
	"math/rand/v2"
	"testing"
	"time"
)

func maxGap(gaps []time.Duration) (m time.Duration) {
	for _, g := range gaps {
		m = max(m, g)
	}
	return m
}

func TestSingleStreamRunsNearTheFloor(t *testing.T) {
	b := newBench(t, Options{})
	s := b.submit(exactly(prompt(256, 1), 100))
	b.drain()
	// 15.0 GB of weights and up to 356 tokens of KV at 0.8 × 2039 GB/s are 9.2 ms;
	// the overhead is 0.6 ms.
	tpot := (s.Last - s.First).Seconds() / 99 * 1e3
	near(t, "TPOT", tpot, 9.84, 0.01)
	// 256 tokens × 16 GFLOP at 0.6 × 312 TFLOP/s are 22 ms.
	near(t, "TTFT", (s.First-s.Arrived).Seconds()*1e3, 22.6, 0.02)
	if s.Generated() != 100 || s.ended != FinishLength {
		t.Errorf("%d tokens, ended by %q", s.Generated(), s.ended)
	}
}

func TestSpeedScalesTime(t *testing.T) {
	run := func(speed float64) time.Duration {
		b := newBench(t, Options{Speed: speed})
		s := b.submit(exactly(prompt(256, 1), 50))
		b.drain()
		return s.Last - s.Arrived
	}
	near(t, "time at speed 4", run(4).Seconds()*4, run(1).Seconds(), 1e-4)
}

func TestLongPromptStallsOthersLessWhenChunked(t *testing.T) {
	worst := func(unchunked bool) time.Duration {
		b := newBench(t, Options{KVGB: 8, Unchunked: unchunked})
		var others []*Sequence
		for i := range 8 {
			others = append(others, b.submit(exactly(prompt(100, uint32(i)), 300)))
		}
		for range 100 {
			b.step(nil)
		}
		b.submit(exactly(prompt(16000, 99), 10))
		b.drain()
		var worst time.Duration
		for _, s := range others {
			worst = max(worst, maxGap(b.gaps[s]))
		}
		return worst
	}
	whole, chunked := worst(true), worst(false)
	// 16,000 × 16.06 GFLOP and 6.7e13 for attention at 187 TFLOP/s are 1.7 s.
	near(t, "gap with the whole prompt in one iteration", whole.Seconds(), 1.73, 0.05)
	// 2,048 tokens take 0.176 s; attention of the last full chunk to the 12,240
	// tokens before it 0.076 s.
	near(t, "gap with chunked prefill", chunked.Seconds(), 0.252, 0.01)
}

func TestNoIterationExceedsTheBudget(t *testing.T) {
	b := newBench(t, Options{TokenBudget: 256, MaxSeqs: 20})
	for i := range 40 {
		b.submit(exactly(prompt(300+i, uint32(i)), 30))
	}
	for b.step(nil) {
		if b.core.batch.Tokens > 256 || b.core.batch.sequences > 20 {
			t.Fatalf("an iteration has %d tokens of %d sequences", b.core.batch.Tokens, b.core.batch.sequences)
		}
	}
}

func TestPreemptionOnlyWhenKVIsFull(t *testing.T) {
	for _, c := range []struct {
		kvGB    float64
		preempt bool
	}{{4, false}, {0.8, true}} { // 25 × 600 tokens need 15,200 of 30,512 or 6,096 tokens
		b := newBench(t, Options{KVGB: c.kvGB})
		var all []*Sequence
		for i := range 25 {
			all = append(all, b.submit(exactly(prompt(200, uint32(i)), 400)))
		}
		before, free := 0, 0
		b.watch = func() {
			if p := b.core.stats.Preemptions; p > before && free >= len(all) {
				t.Fatalf("preempted with %d free blocks", free)
			}
			before, free = b.core.stats.Preemptions, b.core.kv.free
		}
		b.drain()
		if (b.core.stats.Preemptions > 0) != c.preempt {
			t.Errorf("%g GB: %d preemptions", c.kvGB, b.core.stats.Preemptions)
		}
		for _, s := range all {
			if s.Generated() != 400 || s.ended != FinishLength {
				t.Errorf("%g GB: a request got %d of 400 tokens", c.kvGB, s.Generated())
			}
		}
		if b.core.kv.free != b.core.KVBlocks {
			t.Errorf("%g GB: %d of %d blocks are free at the end", c.kvGB, b.core.kv.free, b.core.KVBlocks)
		}
	}
}

func TestPrefixCache(t *testing.T) {
	b := newBench(t, Options{})
	first := b.submit(exactly(prompt(1000, 1), 40))
	b.drain()
	again := b.submit(exactly(prompt(1000, 1), 40))
	b.drain()
	salted := b.submit(Request{Prompt: prompt(1000, 1), MaxTokens: 1, Salt: "mine"})
	b.drain()
	// 62 full blocks of 16 tokens are 992.
	if first.Cached != 0 || again.Cached != 992 || salted.Cached != 0 {
		t.Errorf("cached %d, %d, %d; want 0, 992, 0", first.Cached, again.Cached, salted.Cached)
	}
	if b.core.stats.PrefixHits != 992 || b.core.stats.PrefixQueries != 3000 {
		t.Errorf("%d hits of %d", b.core.stats.PrefixHits, b.core.stats.PrefixQueries)
	}
	if again.First-again.Arrived > (first.First-first.Arrived)/4 {
		t.Errorf("TTFT %v with a cached prompt, %v without", again.First-again.Arrived, first.First-first.Arrived)
	}
	// The next turn of the conversation finds the answer too: 1,039 tokens have
	// KV (the last one was never computed), 64 full blocks.
	next := b.submit(exactly(append(append([]uint32{}, again.tokens...), 5, 6, 7), 1))
	b.drain()
	if next.Cached != 1024 {
		t.Errorf("the second turn found %d cached tokens, want 1024", next.Cached)
	}
}

func TestPrefixCacheCanBeOff(t *testing.T) {
	b := newBench(t, Options{NoPrefixCache: true})
	for range 2 {
		if s := b.submit(exactly(prompt(500, 1), 2)); s.Cached != 0 {
			t.Errorf("%d cached tokens", s.Cached)
		}
		b.drain()
	}
	if b.core.stats.PrefixHits+b.core.stats.PrefixQueries != 0 {
		t.Error("a cache that is off was asked")
	}
}

func TestAbortFreesKVAtOnce(t *testing.T) {
	b := newBench(t, Options{})
	s := b.submit(exactly(prompt(500, 1), 100))
	for range 5 {
		b.step(nil)
	}
	queued := b.submit(exactly(prompt(500, 2), 100))
	it, _ := b.core.begin(b.now) // in the middle of an iteration
	b.core.abort(s)
	b.core.abort(queued)
	if b.core.kv.usage() != 0 || len(b.core.running)+len(b.core.waiting) != 0 {
		t.Errorf("after abort: usage %g, %d running, %d waiting", b.core.kv.usage(), len(b.core.running), len(b.core.waiting))
	}
	if tokens := b.core.finish(it.End); len(tokens) != 0 {
		t.Errorf("%d tokens for aborted requests", len(tokens))
	}
	b.core.abort(s) // once is enough
	if b.core.stats.Finished[FinishAbort] != 2 {
		t.Errorf("%d aborted, want 2", b.core.stats.Finished[FinishAbort])
	}
}

// In a steady state the mean number of requests in the system is their rate
// times the mean time each spends there.
func TestLittlesLaw(t *testing.T) {
	b := newBench(t, Options{Seed: 3})
	random := rand.New(rand.NewPCG(3, 4))
	const n, perSecond = 3000, 4.0
	arrivals := make([]time.Duration, n)
	var at time.Duration
	for i := range arrivals {
		at += seconds(random.ExpFloat64() / perSecond)
		arrivals[i] = at
	}
	var all []*Sequence
	due := func(until time.Duration) {
		for len(all) < n && arrivals[len(all)] <= until {
			b.pass(arrivals[len(all)])
			all = append(all, b.submit(Request{Prompt: prompt(200, uint32(len(all))), MaxTokens: 400}))
		}
	}
	for len(all) < n || len(b.core.running) > 0 {
		if !b.step(due) && len(all) < n {
			due(arrivals[len(all)])
		}
	}
	var spent time.Duration
	for _, s := range all {
		spent += s.Last - s.Arrived
	}
	inSystem := b.held.Seconds() / b.now.Seconds()
	rate := n / b.now.Seconds()
	near(t, "requests in the system", inSystem, rate*spent.Seconds()/n, 0.02)
	if inSystem < 3 {
		t.Errorf("%g requests in the system: too few to prove anything", inSystem)
	}
}
