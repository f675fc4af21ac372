package core

import (
	"math"
	"testing"
	"time"
)

// A step yields (1−a^(k+1))/(1−a) tokens on average: with 4 drafts of which 7 in 10
// hold, 2.77.
func TestTokensPerStepOfSpeculation(t *testing.T) {
	for _, c := range []struct {
		k    int
		a    float64
		want float64
	}{{1, 0.5, 1.5}, {3, 0.6, 2.176}, {4, 0.7, 2.7731}, {5, 0.9, 4.68559}} {
		near(t, "the formula", (1-math.Pow(c.a, float64(c.k+1)))/(1-c.a), c.want, 1e-5)
		b := newBench(t, Options{SpecTokens: c.k, SpecAcceptance: c.a})
		steps, tokens, most := 0, 0, 0
		b.onYield = func(y Output) {
			if !y.First && y.End == Unfinished { // the last step may be cut short
				steps, tokens, most = steps+1, tokens+len(y.words), max(most, len(y.words))
			}
		}
		for i := range 8 {
			b.submit(exactly(prompt(50, uint32(i)), 3000))
		}
		b.drain()
		near(t, "tokens per step", float64(tokens)/float64(steps), c.want, 0.02)
		if most != c.k+1 {
			t.Errorf("with %d drafts a step yields up to %d tokens", c.k, most)
		}
		st := b.core.stats
		perDraft := float64(st.AcceptedTokens()) / float64(st.Drafts)
		near(t, "accepted drafts per step, by the counters", perDraft, c.want-1, 0.03)
		if st.DraftTokens > st.Drafts*c.k || st.DraftTokens < st.Drafts*c.k*99/100 {
			t.Errorf("%d draft tokens in %d steps of %d", st.DraftTokens, st.Drafts, c.k)
		}
	}
}

// Drafts change when words come, not which ones, nor how many.
func TestSpeculationKeepsTheAnswer(t *testing.T) {
	answer := func(o Options) (words []uint16, took time.Duration) {
		b := newBench(t, o)
		b.onYield = func(y Output) { words = append(words, y.words...) }
		s := b.submit(exactly(prompt(50, 1), 777))
		b.drain()
		return words, s.Last - s.First
	}
	plain, slow := answer(Options{})
	drafted, fast := answer(Options{SpecTokens: 4})
	if len(plain) != 777 || len(drafted) != 777 {
		t.Fatalf("%d and %d words, want 777", len(plain), len(drafted))
	}
	for i := range plain {
		if plain[i] != drafted[i] {
			t.Fatalf("word %d differs", i)
		}
	}
	// A memory-bound step costs the same with five tokens: the answer comes 2.77 times
	// as fast.
	near(t, "times as fast", slow.Seconds()/fast.Seconds(), 2.77, 0.1)
}

// Each step computes all its drafts, held or not.
func TestSpeculationCostsKPlusOneTokens(t *testing.T) {
	b := newBench(t, Options{SpecTokens: 3, SpecAcceptance: 0.01})
	for i := range 10 {
		b.submit(exactly(prompt(50, uint32(i)), 100))
	}
	b.step(nil)
	b.step(nil)
	it, _ := b.core.begin(b.now)
	if it.Batch.Tokens != 40 || it.Batch.sequences != 10 {
		t.Errorf("a step of 10 sequences computes %d tokens of %d, want 40 of 10", it.Batch.Tokens, it.Batch.sequences)
	}
}

func TestDraftsNeverExceedTheModelLength(t *testing.T) {
	b := newBench(t, Options{SpecTokens: 7, SpecAcceptance: 1, MaxModelLen: 100, MaxSeqs: 4})
	s := b.submit(exactly(prompt(50, 1), 50))
	b.watch = func() {
		if held := len(s.blocks) * b.core.BlockTokens; held > 112 { // 100, in blocks of 16
			t.Fatalf("KV for %d tokens of at most 100", held)
		}
	}
	b.drain()
	if s.Generated() != 50 {
		t.Errorf("%d tokens, want 50", s.Generated())
	}
}

// When blocks run out, drafts go before anybody loses its KV: three sequences that just
// fit are not disturbed.
func TestDraftsYieldToKV(t *testing.T) {
	b := newBench(t, Options{SpecTokens: 8, SpecAcceptance: 0.01, KVGB: 3 * 13 * 16 * 131072 / 1e9, MaxModelLen: 600})
	for i := range 3 { // 108 + 100 tokens fill 13 blocks to the last place
		b.submit(exactly(prompt(108, uint32(i)), 100))
	}
	b.drain()
	if b.core.KVBlocks != 39 || b.core.stats.Preemptions != 0 || b.core.stats.Finished[FinishLength] != 3 {
		t.Errorf("%d blocks, %d preemptions, %d finished; want 39, 0, 3", b.core.KVBlocks, b.core.stats.Preemptions, b.core.stats.Finished[FinishLength])
	}
}
