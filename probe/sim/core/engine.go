package core

import (
	"maps"
	"slices"
	"time"

	"sonde/probe/sim/faults"
)

// engine is the engine without clock, network and goroutines. Its caller begins an
// iteration, finishes it when its time has come, and submits and aborts in between.
// It is not safe for concurrent use.
type engine struct {
	Setup
	kv      *kvCache
	waiting []*Sequence // first come first served; preempted ones at the head
	running []*Sequence // in order of admission
	batch   Batch       // of the iteration being planned or executed
	out     []Output    // of the last iteration; reused
	words   []uint16    // of out; reused
	stats   *Stats

	// In a disaggregated engine the decoding half has a pool. The engine of the pool hands
	// its sequences over when their prompt is computed.
	pool     *prefillPool
	handOver func(*Sequence, time.Duration)

	faults  faults.Faults // replaced by setFaults only
	gpu     Machine       // setup's machine under these faults
	pause   time.Duration // added to the next iteration
	stalled time.Duration // when the last stall ended
}

// Output is what an iteration generated for one request: a token, or with speculative
// decoding a few at once.
type Output struct {
	Seq   *Sequence
	words []uint16
	End   FinishReason  // Unfinished unless the answer ends with them
	Gap   time.Duration // since the output before; not valid for the first
	First bool
}

func newEngine(s Setup) *engine {
	// The KV from a pool is moved whole, whatever the decoding GPUs already hold.
	c := newHalf(s, !s.NoPrefixCache && !s.Disaggregated, newStats(s.SpecTokens))
	if s.Disaggregated {
		c.pool = newPrefillPool(s, c.stats)
	}
	c.setFaults(s.Faults)
	return c
}

func newHalf(s Setup, prefixCache bool, counters *Stats) *engine {
	return &engine{Setup: s, kv: newKVCache(s.KVBlocks, s.BlockTokens, prefixCache), stats: counters, gpu: s.Machine}
}

// submit puts a request at the end of the queue.
func (c *engine) submit(s *Sequence, now time.Duration) {
	s.Arrived = now
	if c.pool != nil {
		c.pool.submit(s, now)
		return
	}
	c.waiting = append(c.waiting, s)
}

// abort removes a request wherever it is, even from an iteration under way, and
// frees its KV at once. After the end of the request it does nothing.
func (c *engine) abort(s *Sequence) {
	if s.ended != Unfinished {
		return
	}
	s.ended = FinishAbort
	c.stats.Finished[FinishAbort]++
	s.drop()
	queues := []*[]*Sequence{&c.waiting, &c.running}
	if p := c.pool; p != nil {
		queues = append(queues, &p.engine.waiting, &p.engine.running, &p.moving)
	}
	for _, q := range queues {
		*q = slices.DeleteFunc(*q, func(o *Sequence) bool { return o == s })
	}
}

// counts returns the number of requests that are being computed, and of those that wait
// for it or for their KV.
func (c *engine) counts() (running, waiting int) {
	running, waiting = len(c.running), len(c.waiting)
	if p := c.pool; p != nil {
		running += len(p.engine.running)
		waiting += len(p.engine.waiting) + len(p.moving)
	}
	return running, waiting
}

// finish ends the iteration that begin started. Its result is valid until the next call.
func (c *engine) finish(now time.Duration) []Output {
	c.out, c.words = c.out[:0], c.words[:0]
	for _, s := range c.running {
		if s.chunk > 0 {
			c.finishOne(s, now)
		}
	}
	c.running = slices.DeleteFunc(c.running, func(s *Sequence) bool {
		return s.ended != Unfinished || c.handOver != nil && s.pending() == 0
	})
	return c.out
}

func (c *engine) finishOne(s *Sequence, now time.Duration) {
	s.computed += s.chunk - s.drafts
	s.chunk = 0
	complete := s.pending() == 0
	if complete && c.handOver == nil {
		y := c.generate(s, now, 1+c.verify(s))
		s.computed += len(y.words) - 1 // accepted drafts
		c.out = append(c.out, y)
	}
	c.publish(s)
	if complete && c.handOver != nil {
		c.handOver(s, now)
	}
	if s.ended != Unfinished {
		s.drop()
	}
}

// generate appends the next n tokens to a sequence whose tokens are all computed, or
// fewer if its answer ends before.
func (c *engine) generate(s *Sequence, now time.Duration, n int) Output {
	y := Output{Seq: s, Gap: now - s.Last, First: s.Generated() == 0}
	from := len(c.words)
	for range n {
		if s.ended == Unfinished {
			c.words = append(c.words, s.append(now))
		}
	}
	y.words, y.End = c.words[from:], s.ended
	c.stats.GenerationTokens += len(y.words)
	if y.First {
		c.stats.PromptTokens += len(s.Prompt)
		c.stats.CachedTokens += s.Cached
	}
	if y.End != Unfinished {
		c.stats.Finished[y.End]++
	}
	return y
}

// publish offers newly filled blocks to the prefix cache.
func (c *engine) publish(s *Sequence) {
	for ; s.published < s.computed/c.BlockTokens; s.published++ {
		c.kv.publish(s.blocks[s.published], s.hashes[s.published])
	}
}

// Stats are counts since the start.
type Stats struct {
	Preemptions      int
	PrefixQueries    int // tokens
	PrefixHits       int // tokens
	PromptTokens     int // with cached ones
	CachedTokens     int // of these
	GenerationTokens int
	Finished         map[FinishReason]int

	Drafts      int   // steps with draft tokens
	DraftTokens int   // in them
	AcceptedAt  []int // accepted draft tokens, by their place in the draft
}

func newStats(specTokens int) *Stats {
	return &Stats{Finished: map[FinishReason]int{}, AcceptedAt: make([]int, specTokens)}
}

// AcceptedTokens is the number of draft tokens that became part of an answer, or would
// have if it had not ended before.
func (s *Stats) AcceptedTokens() (sum int) {
	for _, n := range s.AcceptedAt {
		sum += n
	}
	return sum
}

func (s *Stats) clone() Stats {
	c := *s
	c.Finished, c.AcceptedAt = maps.Clone(s.Finished), slices.Clone(s.AcceptedAt)
	return c
}
