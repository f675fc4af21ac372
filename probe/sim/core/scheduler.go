package core

import (
	"slices"
	"time"
)

// Iteration is one pass of the model over a batch.
type Iteration struct {
	start, End time.Duration
	Batch      Batch
	cost       cost
}

// begin plans the next iteration and starts it; it returns false if there is nothing to
// do. Running sequences come first, oldest first; then, if KV was sufficient
// for all of them, waiting ones in their order of arrival.
func (c *engine) begin(now time.Duration) (Iteration, bool) {
	if c.pool != nil {
		c.pool.advance(now)
		c.waiting = append(c.waiting, c.pool.arrived(now)...)
	}
	if len(c.running) == 0 && len(c.waiting) > 0 {
		now = max(now, c.waiting[0].Arrived) // the driver's schedule may be slightly behind its clock
	}
	budget := c.TokenBudget
	c.batch = Batch{}
	preempted := c.scheduleRunning(now, &budget)
	if !preempted {
		c.admitWaiting(now, &budget)
	}
	if c.batch.Tokens == 0 {
		return Iteration{}, false
	}
	price := costOf(c.batch, &c.Served, &c.gpu)
	price.overhead += time.Duration(float64(price.duration()) * (max(1, c.faults.Slow) - 1)) // lost on the host
	price.overhead += time.Duration(float64(c.stallAt(now)) * c.Speed)                       // a stall does not depend on the speed
	took := time.Duration(float64(price.duration()) / c.Speed)
	return Iteration{start: now, End: now + took, Batch: c.batch, cost: price}, true
}

// scheduleRunning gives every running sequence its next tokens. When KV blocks
// run out, it drops drafts, and then the youngest sequence loses its own blocks
// and waits again.
func (c *engine) scheduleRunning(now time.Duration, budget *int) (preempted bool) {
	for i := 0; i < len(c.running); i++ {
		s := c.running[i]
		s.drafts = c.draftsFor(s, *budget)
		n := c.chunkFor(s, *budget) + s.drafts
		for n > 0 && !c.grow(s, n) {
			if s.drafts > 0 {
				n, s.drafts = n-s.drafts, 0
				continue
			}
			preempted = true
			if victim := c.preemptYoungest(now); victim == s {
				n = 0
			}
		}
		if n > 0 {
			c.schedule(s, n, budget)
		}
	}
	return preempted
}

// admitWaiting moves sequences from the queue into the batch while there is
// room for another one, and KV for the whole of it.
func (c *engine) admitWaiting(now time.Duration, budget *int) {
	for len(c.waiting) > 0 && len(c.running) < c.MaxSeqs && *budget > 0 {
		s := c.waiting[0]
		cached, wereFree := c.kv.match(s.cacheable())
		if c.kv.blocksFor(len(s.tokens))-len(cached)+wereFree > c.roomToAdmit() {
			return
		}
		before := s.computed
		s.computed = len(cached) * c.BlockTokens
		if c.pool != nil {
			s.computed = len(s.tokens) - 1 // came over the link; the last one gives the next token
		}
		n := c.chunkFor(s, *budget)
		if n == 0 {
			s.computed = before
			return
		}
		s.drop() // the copy in the prefill pool
		for _, id := range cached {
			c.kv.share(id)
		}
		s.cache, s.blocks, s.published = c.kv, cached, len(cached)
		c.grow(s, n)
		c.waiting = c.waiting[1:]
		c.running = append(c.running, s)
		c.countAdmission(s, now)
		c.schedule(s, n, budget)
	}
}

// chunkFor is the number of tokens of s that fit into the iteration. Without chunking
// prompts go in whole; one that is longer than the budget is the only prompt of its
// iteration.
func (c *engine) chunkFor(s *Sequence, budget int) int {
	pending := s.pending()
	if pending <= budget || !c.Unchunked {
		return min(pending, budget)
	}
	if budget == 0 || c.batch.prompts > 0 {
		return 0
	}
	return pending
}

// room is the number of blocks that can be taken. The oldest sequence may also take
// withheld ones, so that the engine never stops for lack of blocks.
func (c *engine) room(oldest bool) int {
	if oldest {
		return c.kv.free
	}
	return c.kv.free - c.kv.withheld
}

// growthShare of all blocks is left to running sequences when another one is admitted:
// each needs more blocks as its answer grows. Without it every admission soon costs a
// preemption, and up to a tenth of the throughput is lost to computing things again.
const growthShare = 0.03

// roomToAdmit is the number of blocks that a sequence from the queue may need.
func (c *engine) roomToAdmit() int {
	if len(c.running) == 0 {
		return c.room(true)
	}
	return c.room(false) - int(growthShare*float64(c.KVBlocks))
}

// grow takes the KV blocks for n more tokens of s; false if there are too few.
func (c *engine) grow(s *Sequence, n int) bool {
	missing := c.kv.blocksFor(s.computed+n) - len(s.blocks)
	if missing > 0 && missing > c.room(len(c.running) == 0 || c.running[0] == s) {
		return false
	}
	for range missing {
		s.blocks = append(s.blocks, c.kv.take())
	}
	return true
}

func (c *engine) schedule(s *Sequence, n int, budget *int) {
	s.chunk = n
	*budget = max(0, *budget-n)
	c.batch.add(s.computed, n)
	if s.pending() > 1 {
		c.batch.prompts++
	}
}

// preemptYoungest removes the last of the running sequences. Its KV is lost;
// it goes to the head of the queue, and later computes everything again,
// including what it has generated.
func (c *engine) preemptYoungest(now time.Duration) *Sequence {
	last := len(c.running) - 1
	s := c.running[last]
	c.running = c.running[:last]
	c.stats.Preemptions++
	if c.pool != nil {
		s.drop()
		c.pool.again(s, now)
	} else {
		c.requeue(s)
	}
	return s
}

// requeue puts a sequence without any KV at the head of the queue.
func (c *engine) requeue(s *Sequence) {
	s.drop()
	s.computed, s.published = 0, 0
	c.waiting = slices.Insert(c.waiting, 0, s)
}

// countAdmission counts the start of a sequence, but not its return after preemption.
func (c *engine) countAdmission(s *Sequence, now time.Duration) {
	if s.started {
		return
	}
	s.started = true
	s.Scheduled = max(now, s.Arrived) // as in begin
	s.Cached = s.computed
	if c.kv.prefixes {
		c.stats.PrefixQueries += len(s.Prompt)
		c.stats.PrefixHits += s.Cached
	}
}

// Speculative decoding: a decode step carries k draft tokens besides the one that is
// due, and computes k+1 tokens. The model accepts each draft with the same probability
// a, and everything after the first rejected one is discarded, so that a step yields (1−a^(k+1))/(1−a) tokens on average (Leviathan et al., arXiv
// 2211.17192). Making the drafts costs nothing here, as when they are looked up in
// the prompt.

// draftsFor is the number of drafts in the next step of s. They need room in the
// budget, and below the longest length that a sequence may have.
func (c *engine) draftsFor(s *Sequence, budget int) int {
	if c.SpecTokens == 0 || s.Generated() == 0 || s.pending() != 1 {
		return 0
	}
	return max(0, min(c.SpecTokens, budget-1, c.MaxModelLen-len(s.tokens)))
}

// verify returns how many of the drafts in this step the model accepts.
func (c *engine) verify(s *Sequence) (accepted int) {
	if s.drafts == 0 {
		return 0
	}
	c.stats.Drafts++
	c.stats.DraftTokens += s.drafts
	for accepted < s.drafts && s.draftRandom.Float64() < c.SpecAcceptance {
		c.stats.AcceptedAt[accepted]++
		accepted++
	}
	s.drafts = 0
	return accepted
}
