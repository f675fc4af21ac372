package sim

import (
	"slices"
	"time"
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
	stats   stats

	conditions conditions    // replaced by setConditions only
	gpu        machine       // setup's machine under these conditions
	pause      time.Duration // that the next iteration is to take longer
	stalled    time.Duration // when the last stall ended
}

// stats count since the start.
type stats struct {
	preemptions      int
	prefixQueries    int // tokens
	prefixHits       int // tokens
	promptTokens     int // with cached ones
	generationTokens int
	finished         map[finish]int
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
	c := &core{
		setup: s,
		kv:    newKVCache(s.kvBlocks, s.blockTokens, s.prefixCache),
		stats: stats{finished: map[finish]int{}},
	}
	c.setConditions(s.faults.conditions())
	return c
}

// submit puts a request at the end of the queue.
func (c *core) submit(s *sequence, now time.Duration) {
	s.arrived = now
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
	c.drop(s)
	remove := func(o *sequence) bool { return o == s }
	c.waiting = slices.DeleteFunc(c.waiting, remove)
	c.running = slices.DeleteFunc(c.running, remove)
}

func (c *core) drop(s *sequence) {
	c.kv.release(s.blocks)
	s.blocks, s.chunk = nil, 0
}

// finish ends the iteration that begin started. What it yields is valid until the
// next call.
func (c *core) finish(now time.Duration) []yield {
	c.out, c.words = c.out[:0], c.words[:0]
	for _, s := range c.running {
		if s.chunk == 0 {
			continue
		}
		s.computed += s.chunk
		s.chunk = 0
		if s.pending() == 0 {
			c.out = append(c.out, c.generate(s, now))
		}
		c.publish(s)
		if s.ended != finishNone {
			c.drop(s)
		}
	}
	c.running = slices.DeleteFunc(c.running, func(s *sequence) bool { return s.ended != finishNone })
	return c.out
}

// generate yields the next token of a sequence whose tokens are all computed.
func (c *core) generate(s *sequence, now time.Duration) yield {
	y := yield{seq: s, gap: now - s.last, first: s.generated() == 0}
	from := len(c.words)
	c.words = append(c.words, s.append(now))
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
	for ; s.published < s.computed/c.blockTokens; s.published++ {
		c.kv.publish(s.blocks[s.published], s.hashes[s.published])
	}
}
