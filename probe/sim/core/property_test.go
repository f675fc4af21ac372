package core

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sonde/probe/sim/faults"
)

// Whatever comes, goes, loses its KV or is held up: every block is free or held, and
// held by exactly those who say so; no iteration exceeds its budget; requests are let
// in as they came.
func TestInvariantsUnderRandomLoad(t *testing.T) {
	for name, o := range map[string]Options{
		"plain":           {KVGB: 1},
		"tiny KV":         {KVGB: 0.3},
		"whole prompts":   {Unchunked: true, KVGB: 0.5},
		"no prefix cache": {NoPrefixCache: true, KVGB: 0.4},
		"speculation":     {SpecTokens: 4, KVGB: 0.4},
		"disaggregated":   {Disaggregated: true, KVGB: 0.4},
		"both":            {Disaggregated: true, SpecTokens: 2, KVGB: 0.4, TransferGBs: 1},
		"blocks of 5":     {BlockTokens: 5, KVGB: 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			o.MaxSeqs, o.TokenBudget = 24, 200
			for seed := range uint64(6) {
				r := randomLoad{bench: newBench(t, o), random: rand.New(rand.NewPCG(seed, 9))}
				r.play(300)
			}
		})
	}
}

// randomLoad submits, aborts, changes conditions and steps at random.
type randomLoad struct {
	*bench
	random *rand.Rand
	all    []*Sequence
}

func (r *randomLoad) play(operations int) {
	for range operations {
		switch n := r.random.IntN(20); {
		case n < 4:
			r.all = append(r.all, r.submit(r.ask()))
		case n == 4 && len(r.all) > 0:
			r.core.abort(r.all[r.random.IntN(len(r.all))])
		case n == 5:
			r.core.setFaults(faults.Faults{KV: r.random.Float64(), Slow: 1 + r.random.Float64()})
		case n == 6:
			r.core.setFaults(faults.Faults{})
		default:
			r.iterate()
		}
		r.check()
	}
	r.core.setFaults(faults.Faults{})
	for r.iterate() {
		r.check()
	}
	for i, s := range r.all {
		if s.ended == Unfinished || s.ended == FinishLength && s.Generated() != s.MaxTokens {
			r.t.Fatalf("request %d is left with %d of %d tokens", i, s.Generated(), s.MaxTokens)
		}
	}
	if r.core.kv.free != r.core.KVBlocks {
		r.t.Fatalf("%d of %d blocks are free at the end", r.core.kv.free, r.core.KVBlocks)
	}
}

// ask shares its prefix with some other prompts.
func (r *randomLoad) ask() Request {
	p := append(prompt(r.random.IntN(150), uint32(r.random.IntN(3))), prompt(1+r.random.IntN(150), uint32(100+len(r.all)))...)
	return exactly(p, 1+r.random.IntN(150))
}

// iterate runs an iteration, of which a request may be taken away in the middle.
func (r *randomLoad) iterate() bool {
	it, ok := r.core.begin(r.now)
	if !ok {
		return r.passIdle(nil)
	}
	if it.Batch.Tokens > r.core.TokenBudget && !r.core.Unchunked || it.Batch.sequences > r.core.MaxSeqs {
		r.t.Fatalf("an iteration has %d tokens of %d sequences", it.Batch.Tokens, it.Batch.sequences)
	}
	r.check()
	if len(r.all) > 0 && r.random.IntN(8) == 0 {
		r.core.abort(r.all[r.random.IntN(len(r.all))])
		r.check()
	}
	r.now = it.End
	r.core.finish(it.End)
	return true
}

func (r *randomLoad) check() {
	r.t.Helper()
	c := r.core
	if c.pool == nil {
		r.checkKV(c.kv, c.running)
		for _, s := range c.waiting {
			if len(s.blocks) > 0 {
				r.t.Fatal("a waiting sequence holds KV")
			}
		}
	} else {
		r.checkKV(c.kv, c.running)
		r.checkKV(c.pool.engine.kv, slices.Concat(c.pool.engine.running, c.pool.moving, c.waiting))
	}
	r.checkOrder()
}

// checkKV counts who holds which block, and what is in the list of free ones.
func (r *randomLoad) checkKV(kv *kvCache, holders []*Sequence) {
	r.t.Helper()
	refs := make([]int, len(kv.blocks))
	for _, s := range holders {
		if s.ended != Unfinished || s.cache != kv && len(s.blocks) > 0 {
			r.t.Fatal("blocks of another cache, or of a request that ended")
		}
		for _, id := range s.blocks {
			refs[id]++
		}
		if len(s.blocks) < kv.blocksFor(s.computed) && s.cache == kv {
			r.t.Fatalf("%d computed tokens in %d blocks", s.computed, len(s.blocks))
		}
	}
	listed := 0
	for id := kv.blocks[0].next; id != 0; id = kv.blocks[id].next {
		refs[id]-- // a free block is in the list once and held by nobody
		listed++
	}
	for id := 1; id < len(kv.blocks); id++ {
		if want := refs[id]; want != kv.blocks[id].refs && (want != -1 || kv.blocks[id].refs != 0) {
			r.t.Fatalf("block %d has %d holders by its own count, %d by theirs (-1: in the free list)", id, kv.blocks[id].refs, want)
		}
		if refs[id] == 0 {
			r.t.Fatalf("block %d is lost", id)
		}
	}
	if listed != kv.free {
		r.t.Fatalf("%d blocks in the free list, %d by the count", listed, kv.free)
	}
	for hash, id := range kv.byHash {
		if kv.blocks[id].hash != hash {
			r.t.Fatalf("block %d is found under a hash that is not its own", id)
		}
	}
}

// checkOrder: nobody was let in before a request that came earlier, and whoever lost
// its KV waits before all who never ran.
func (r *randomLoad) checkOrder() {
	r.t.Helper()
	queue := r.core.waiting
	if r.core.pool != nil {
		queue = r.core.pool.engine.waiting
	}
	for i := 1; i < len(queue); i++ {
		if queue[i].started && !queue[i-1].started {
			r.t.Fatal("a sequence that lost its KV waits behind one that never ran")
		}
	}
	waits := false
	for i, s := range r.all {
		switch {
		case s.started && waits:
			r.t.Fatalf("request %d was let in before an earlier one", i)
		case !s.started && s.ended == Unfinished:
			waits = true
		}
	}
}
