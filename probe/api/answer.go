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
	thoughts  int // chunks with reasoning
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
		r.AddGap(at - r.Last)
		if at == r.Last {
			r.Coalesced++
		}
	}
	if c.bearing.answer && !r.HaveAnswer {
		r.HaveAnswer, r.Answer = true, at
	}
	if c.bearing.reasoning {
		a.thoughts++
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
// source there was. It returns a note about counts that contradict each other.
func (a *answer) count(s *stream) (note string) {
	r, u := a.rec, s.usage
	if u.withReasoning() {
		note = "completion_tokens leave the reasoning out: it was added"
	}
	r.Finish = s.finish
	r.InTokens = u.prompt
	switch {
	case a.contradicts(u):
		r.OutTokens, r.Source = r.Chunks, measure.Chunks
		note = "usage reports far fewer tokens than chunks with text arrived: tokens are counted by chunks"
	case u.completion > 0 || u.known() && r.Chunks == 0:
		r.OutTokens, r.Source = u.completion, measure.Usage
		r.ReasoningTokens, r.CachedTokens, r.CachedCounted = u.reasoning, u.cached, u.counted
		if a.withUsage == r.Chunks && r.Chunks > 1 {
			r.Source = measure.UsagePerChunk
		}
	default:
		r.OutTokens, r.Source = r.Chunks, measure.Chunks
	}
	// A first chunk cannot hold more than the whole answer.
	r.FirstTokens = min(r.FirstTokens, max(1, r.OutTokens))
	return note
}

// charactersPerToken bounds how many chunks a token may come in: some servers stream
// single characters.
const charactersPerToken = 8

// contradicts reports whether usage counts so few tokens that the chunks cannot be theirs,
// or just those that are no reasoning.
func (a *answer) contradicts(u usage) bool {
	leftOut := a.thoughts > 1 && u.reasoning == 0 && u.completion <= a.rec.Chunks-a.thoughts+1
	return u.completion > 0 && (leftOut || a.rec.Chunks > charactersPerToken*u.completion)
}
