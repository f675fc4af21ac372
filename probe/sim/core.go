package sim

import (
	"slices"
	"time"

	"sonde/probe/sim/faults"
)

// core is the engine without clock, network and goroutines. Its time is what
// its caller says: begin an iteration, end it when its time has come, submit
// and abort in between. It is not safe for concurrent use.
type core struct {
	setup
	kv      *kvCache
	waiting []*sequence // first come first served; preempted ones at the head
	running []*sequence // in order of admission
	batch   batch       // of the iteration being planned or executed
	out     []yield     // of the last iteration; reused
	words   []uint16    // in out; reused
	stats   *stats

	// Of the two halves of a disaggregated engine the decoding one has a pool, and
	// the pool's own core hands its sequences over when their prompt is computed.
	pool     *prefillPool
	handOver func(*sequence, time.Duration)

	faults  faults.Faults // replaced by setFaults only
	gpu     machine       // setup's machine under these faults
	pause   time.Duration // that the next iteration is to take longer
	stalled time.Duration // when the last stall ended
}

// yield is what an iteration gave to one request: a token, or with speculative
// decoding a few that come together.
type yield struct {
	seq   *sequence
	words []uint16
	end   finish        // finishNone unless the answer ends with them
	gap   time.Duration // since the yield before; valid unless first
	first bool
}

func newCore(s setup) *core {
	// What comes from a pool is moved whole, whatever the decoding GPUs hold already.
	c := newHalf(s, !s.NoPrefixCache && !s.Disaggregated, newStats(s.SpecTokens))
	if s.Disaggregated {
		c.pool = newPrefillPool(s, c.stats)
	}
	c.setFaults(s.Faults)
	return c
}

func newHalf(s setup, prefixCache bool, counters *stats) *core {
	return &core{setup: s, kv: newKVCache(s.kvBlocks, s.BlockTokens, prefixCache), stats: counters, gpu: s.machine}
}

// submit puts a request at the end of the queue.
func (c *core) submit(s *sequence, now time.Duration) {
	s.arrived = now
	if c.pool != nil {
		c.pool.submit(s, now)
		return
	}
	c.waiting = append(c.waiting, s)
}

// abort removes a request wherever it is, even from an iteration under way, and
// frees its KV at once. After the end of the request it does nothing.
func (c *core) abort(s *sequence) {
	if s.ended != finishNone {
		return
	}
	s.ended = finishAbort
	c.stats.finished[finishAbort]++
	s.drop()
	queues := []*[]*sequence{&c.waiting, &c.running}
	if p := c.pool; p != nil {
		queues = append(queues, &p.core.waiting, &p.core.running, &p.moving)
	}
	for _, q := range queues {
		*q = slices.DeleteFunc(*q, func(o *sequence) bool { return o == s })
	}
}

// counts are the requests that are being computed, and those that wait for it or for
// their KV to arrive.
func (c *core) counts() (running, waiting int) {
	running, waiting = len(c.running), len(c.waiting)
	if p := c.pool; p != nil {
		running += len(p.core.running)
		waiting += len(p.core.waiting) + len(p.moving)
	}
	return running, waiting
}

// finish ends the iteration that begin started. What it yields is valid until the
// next call.
func (c *core) finish(now time.Duration) []yield {
	c.out, c.words = c.out[:0], c.words[:0]
	for _, s := range c.running {
		if s.chunk > 0 {
			c.finishOne(s, now)
		}
	}
	c.running = slices.DeleteFunc(c.running, func(s *sequence) bool {
		return s.ended != finishNone || c.handOver != nil && s.pending() == 0
	})
	return c.out
}

func (c *core) finishOne(s *sequence, now time.Duration) {
	s.computed += s.chunk - s.drafts
	s.chunk = 0
	complete := s.pending() == 0
	if complete && c.handOver == nil {
		y := c.generate(s, now, 1+c.verify(s))
		s.computed += len(y.words) - 1 // the drafts that hold
		c.out = append(c.out, y)
	}
	c.publish(s)
	if complete && c.handOver != nil {
		c.handOver(s, now)
	}
	if s.ended != finishNone {
		s.drop()
	}
}

// generate yields the next n tokens of a sequence whose tokens are all computed, or
// fewer if its answer ends before.
func (c *core) generate(s *sequence, now time.Duration, n int) yield {
	y := yield{seq: s, gap: now - s.last, first: s.generated() == 0}
	from := len(c.words)
	for range n {
		if s.ended == finishNone {
			c.words = append(c.words, s.append(now))
		}
	}
	y.words, y.end = c.words[from:], s.ended
	c.stats.generationTokens += len(y.words)
	if y.first {
		c.stats.promptTokens += len(s.prompt)
	}
	if y.end != finishNone {
		c.stats.finished[y.end]++
	}
	return y
}

// publish offers newly filled blocks to the prefix cache.
func (c *core) publish(s *sequence) {
	for ; s.published < s.computed/c.BlockTokens; s.published++ {
		c.kv.publish(s.blocks[s.published], s.hashes[s.published])
	}
}
