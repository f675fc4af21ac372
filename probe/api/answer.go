package api

import (
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/measure"
)

// Observer sees a request while it runs. Its methods are called from the
// goroutine of the request and must not block.
type Observer interface {
	// Sent is called once the request is on its way (again, if it is repeated).
	Sent(t0 time.Duration)
	// Token is called for every token-bearing chunk: when it arrived, how late
	// it was read, and how many tokens it is known to hold (1 unless known).
	Token(at, late time.Duration, tokens int)
}

// answer gathers one request's figures while its chunks come in.
type answer struct {
	rec    *measure.Request
	obs    Observer
	wire   *wire.Conn
	epoch  time.Time
	counts tokenCounts

	opening int // objects without a token before the first one
}

// tokenCounts follows cumulative usage over the chunks of one answer.
type tokenCounts struct {
	seen      int // completion tokens reported so far
	withUsage int // token-bearing chunks with a running count
}

// chunk notes one object of the stream.
func (a *answer) chunk(c *chunk) {
	b := c.bearing()
	if !b.any() {
		if a.rec.Chunks == 0 {
			a.opening++
		}
		return
	}
	stamp := a.wire.Stamp()
	at := stamp.At.Sub(a.epoch)
	tokens := a.counts.newTokens(c)
	r := a.rec
	if r.Chunks == 0 {
		r.First = at
		r.FirstTokens = max(1, tokens)
	} else {
		r.GapsMS = append(r.GapsMS, float32(float64(at-r.Last)/float64(time.Millisecond)))
		if at == r.Last {
			r.Coalesced++
		}
	}
	if b.answer && !r.HaveAnswer {
		r.HaveAnswer, r.Answer = true, at
	}
	r.Last = at
	r.Chunks++
	a.obs.Token(at, stamp.Late, max(1, tokens))
}

// newTokens is how many tokens a chunk brought by its running usage; 0 without
// one.
func (t *tokenCounts) newTokens(c *chunk) int {
	if c.Usage == nil || c.Usage.Completion <= t.seen {
		return 0
	}
	n := c.Usage.Completion - t.seen
	t.seen = c.Usage.Completion
	t.withUsage++
	return n
}

// count settles the numbers of tokens when the answer has ended, from the best
// source there was.
func (a *answer) count(s *stream) {
	r := a.rec
	r.Finish = s.finish
	switch {
	case s.usage != nil && (s.usage.Completion > 0 || r.Chunks == 0):
		r.InTokens, r.OutTokens = s.usage.Prompt, s.usage.Completion
		r.ReasoningTokens, r.CachedTokens = s.usage.reasoning(), s.usage.cached()
		r.Source = measure.Usage
		if a.counts.withUsage == r.Chunks && r.Chunks > 1 {
			r.Source = measure.UsagePerChunk
		}
	case s.timings != nil && s.timings.PredictedN > 0: // llama.cpp without usage
		r.InTokens, r.OutTokens = s.timings.PromptN+s.timings.CacheN, s.timings.PredictedN
		r.CachedTokens = s.timings.CacheN
		r.Source = measure.Usage
	default:
		r.OutTokens, r.Source = r.Chunks, measure.Chunks
		if s.usage != nil {
			r.InTokens = s.usage.Prompt
		}
	}
	// A first chunk cannot hold more than the whole answer.
	r.FirstTokens = min(r.FirstTokens, max(1, r.OutTokens))
}
