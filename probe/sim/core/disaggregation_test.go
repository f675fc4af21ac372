package core

import (
	"testing"
	"time"

	"sonde/probe/sim/faults"
)

// A decode iteration has one token of each sequence in it, however many prompts come,
// and even when sequences lose their KV and have to be read anew.
func TestDecodeOfADisaggregatedEngineNeverPrefills(t *testing.T) {
	b := newBench(t, Options{Disaggregated: true, KVGB: 1})
	b.onIteration = func(it Iteration) {
		if it.Batch.Tokens != it.Batch.sequences {
			t.Fatalf("%d tokens of %d sequences in a decode iteration", it.Batch.Tokens, it.Batch.sequences)
		}
	}
	for i := range 40 {
		b.submit(exactly(prompt(200, uint32(i)), 300))
	}
	b.drain()
	if n := b.core.stats.Finished[FinishLength]; n != 40 || b.core.stats.Preemptions == 0 {
		t.Errorf("%d of 40 finished, with %d preemptions", n, b.core.stats.Preemptions)
	}
	if b.core.kv.free != b.core.KVBlocks || b.core.pool.engine.kv.free != b.core.KVBlocks {
		t.Errorf("free at the end: %d and %d of %d blocks", b.core.kv.free, b.core.pool.engine.kv.free, b.core.KVBlocks)
	}
}

func TestDisaggregationLeavesOtherStreamsAlone(t *testing.T) {
	worst := func(o Options) (before, behind time.Duration) {
		o.KVGB = 10
		b := newBench(t, o)
		var others []*Sequence
		for i := range 8 {
			others = append(others, b.submit(exactly(prompt(100, uint32(i)), 400)))
		}
		for range 150 {
			b.step(nil)
		}
		mark := map[*Sequence]int{}
		for _, s := range others {
			mark[s], before = len(b.gaps[s]), max(before, maxGap(b.gaps[s][len(b.gaps[s])-50:]))
		}
		b.submit(exactly(prompt(16000, 99), 1))
		b.drain()
		for _, s := range others {
			behind = max(behind, maxGap(b.gaps[s][mark[s]:]))
		}
		return before, behind
	}
	before, behind := worst(Options{})
	if behind < 5*before {
		t.Errorf("together, a 16k prompt makes gaps grow from %v to %v only: this shows nothing", before, behind)
	}
	before, behind = worst(Options{Disaggregated: true})
	// Some KV more is read with each token; the sequence of 16,000 tokens adds its own
	// once: 2.1 GB at 0.8 × 2,039 GB/s are 1.3 ms.
	if behind > before+2*time.Millisecond {
		t.Errorf("apart, gaps grow from %v to %v", before, behind)
	}
}

// 2,000 tokens of an 8B model: 3.21e13 FLOP, 1.05e12 of attention, at 187 TFLOP/s are
// 177.3 ms and 0.6 ms of overhead; 262 MB cross a link of 25 GB/s in 10.5 ms; the step
// that yields the first token takes 10.0 ms.
func TestFirstTokenComesBehindPrefillTransferAndAStep(t *testing.T) {
	b := newBench(t, Options{Disaggregated: true})
	s := b.submit(exactly(prompt(2000, 1), 2))
	b.drain()
	near(t, "TTFT in ms", (s.First-s.Arrived).Seconds()*1e3, 177.3+0.6+10.5+10.0, 0.002)
}

// What slows the engine slows both halves.
func TestConditionsReachThePool(t *testing.T) {
	ttft := func(c faults.Faults) time.Duration {
		b := newBench(t, Options{Disaggregated: true, TransferGBs: 1000})
		b.core.setFaults(c)
		s := b.submit(exactly(prompt(2000, 1), 1))
		b.drain()
		return s.First - s.Arrived
	}
	near(t, "TTFT of a slow replica", ttft(faults.Faults{Slow: 2}).Seconds(), 2*ttft(faults.Faults{}).Seconds(), 0.002)
}

// A second transfer waits for the first one: on a slow link prompts arrive one behind
// the other.
func TestTransfersShareTheLink(t *testing.T) {
	b := newBench(t, Options{Disaggregated: true, TransferGBs: 0.1})
	first := b.submit(exactly(prompt(500, 1), 1))
	second := b.submit(exactly(prompt(500, 2), 1))
	b.drain()
	each := 500 * 131072 / 0.1e9 // seconds
	near(t, "between two arrivals", (second.ready - first.ready).Seconds(), each, 1e-6)
}

// The pool's prefix cache spares it the prefill, not the link the transfer.
func TestPoolHasAPrefixCache(t *testing.T) {
	b := newBench(t, Options{Disaggregated: true})
	first := b.submit(exactly(prompt(2000, 1), 1))
	b.drain()
	again := b.submit(exactly(prompt(2000, 1), 1))
	b.drain()
	if again.Cached != 1984 { // 124 whole blocks; the last token has to be computed
		t.Errorf("%d cached tokens, want 1984", again.Cached)
	}
	if d, spared := again.First-again.Arrived, first.First-first.Arrived; d > spared/4 || d < 20*time.Millisecond {
		t.Errorf("TTFT %v with a cached prompt, %v without", d, spared)
	}
}

func TestAbortReachesPoolAndLink(t *testing.T) {
	b := newBench(t, Options{Disaggregated: true, TransferGBs: 0.1})
	moving := b.submit(exactly(prompt(500, 1), 100))
	b.step(nil) // its prefill ends
	reading := b.submit(exactly(prompt(500, 2), 100))
	queued := b.submit(exactly(prompt(500, 3), 100))
	if n := len(b.core.pool.moving); n != 1 {
		t.Fatalf("%d on the link, want 1", n)
	}
	for _, s := range []*Sequence{moving, reading, queued} {
		b.core.abort(s)
	}
	if running, waiting := b.core.counts(); running+waiting != 0 || b.core.pool.engine.kv.free != b.core.KVBlocks {
		t.Errorf("%d running, %d waiting, %d blocks free", running, waiting, b.core.pool.engine.kv.free)
	}
	b.drain()
	if b.core.stats.GenerationTokens != 0 {
		t.Error("an aborted request got tokens")
	}
}
