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
	rec   *measure.Request
	obs   Observer
	wire  *wire.Conn
	epoch time.Time

	opening   int // objects without a token before the first one
	counted   int // completion tokens reported so far
	withUsage int // token-bearing chunks with a running count
}

// chunk notes one object of the stream.
func (a *answer) chunk(c *chunk) {
	if !c.bearing.any() {
		if a.rec.Chunks == 0 {
			a.opening++
		}
		return
	}
	stamp := a.wire.Stamp()
	at := stamp.At.Sub(a.epoch)
	tokens := a.newTokens(c)
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
	if c.bearing.answer && !r.HaveAnswer {
		r.HaveAnswer, r.Answer = true, at
	}
	r.Last = at
	r.Chunks++
	a.obs.Token(at, stamp.Late, max(1, tokens))
}

// newTokens is how many tokens a chunk brought by its running usage; 0 without
// one.
func (a *answer) newTokens(c *chunk) int {
	n := c.usage.completion - a.counted
	if n <= 0 {
		return 0
	}
	a.counted = c.usage.completion
	a.withUsage++
	return n
}

// count settles the numbers of tokens when the answer has ended, from the best
// source there was.
func (a *answer) count(s *stream) {
	r := a.rec
	r.Finish = s.finish
	r.InTokens = s.usage.prompt
	if s.usage.completion > 0 || s.usage.known() && r.Chunks == 0 {
		r.OutTokens, r.Source = s.usage.completion, measure.Usage
		r.ReasoningTokens, r.CachedTokens = s.usage.reasoning, s.usage.cached
		if a.withUsage == r.Chunks && r.Chunks > 1 {
			r.Source = measure.UsagePerChunk
		}
	} else {
		r.OutTokens, r.Source = r.Chunks, measure.Chunks
	}
	// A first chunk cannot hold more than the whole answer.
	r.FirstTokens = min(r.FirstTokens, max(1, r.OutTokens))
}
