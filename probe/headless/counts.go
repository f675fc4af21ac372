package headless

import (
	"fmt"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
)

// tooLongLimit ends a run whose prompts do not fit the model.
const tooLongLimit = 3

// maxRefusals bounds the distinct messages that are counted for it.
const maxRefusals = 100

// counts tells what became of the measured requests, and where their tokens
// went.
type counts struct {
	requests  RequestCounts
	errors    report.ErrorCounts
	refusals  map[string]int // context_length, by message
	endReason string         // why the run ended itself, "" if it did not

	tokens    tokenSums
	lengths   lengths
	uncounted int // successes whose prompt nobody counted
	sources   map[measure.TokenSource]int

	streamedOut, chunks int // output tokens and chunks of streamed successes
	coalesced, arrivals int // chunks that shared a stamp, of all chunks
	wholeReplies        int // successes that were not streamed
}

// tokenSums are of successes, but for partialOutput.
type tokenSums struct {
	input, output, partialOutput, reasoning, cachedInput int
}

func newCounts() counts {
	return counts{
		requests: RequestCounts{ByClass: map[measure.Class]int{}},
		refusals: map[string]int{},
		sources:  map[measure.TokenSource]int{},
		lengths:  newLengths(),
	}
}

// addLoading counts a refusal by a server that is not ready: a request that was
// sent, a class, no failure.
func (c *counts) addLoading() {
	c.requests.Sent++
	c.requests.ByClass[measure.Loading]++
}

// add counts one measured request. A request that was excluded is also counted
// by its result.
func (c *counts) add(r *measure.Request) {
	c.requests.Sent++
	if r.Excluded {
		c.requests.Excluded++
	}
	c.arrivals += r.Chunks
	c.coalesced += r.Coalesced
	switch {
	case r.Class == measure.OK:
		c.requests.OK++
		c.addTokens(r)
		return
	case r.Class == measure.Cancelled:
		c.requests.Cancelled++
	default:
		c.requests.Failed++
		c.requests.ByClass[r.Class]++
		c.errors.Add(report.ErrorCount{Class: r.Class, Message: r.Error, Count: 1})
	}
	c.tokens.partialOutput += r.OutTokens
}

func (c *counts) addTokens(r *measure.Request) {
	c.lengths.add(r)
	c.tokens.input += r.InTokens
	c.tokens.output += r.OutTokens
	c.tokens.reasoning += r.ReasoningTokens
	c.tokens.cachedInput += r.CachedTokens
	if !promptCounted(r) {
		c.uncounted++
	}
	if r.Source != "" {
		c.sources[r.Source]++
	}
	if !r.Streamed {
		c.wholeReplies++
		return
	}
	c.streamedOut += r.OutTokens
	c.chunks += r.Chunks
}

// promptCounted tells whether the server said how long the prompt of a success
// was: there is no prompt without a token.
func promptCounted(r *measure.Request) bool { return r.InTokens > 0 }

// tokenCounts are the sums in the form of the Summary.
func (c *counts) tokenCounts() TokenCounts {
	t := &c.tokens
	return TokenCounts{
		Input: c.ofPrompts(t.input), CachedInput: c.ofPrompts(t.cachedInput),
		Output: t.output, PartialOutput: t.partialOutput, Reasoning: t.reasoning,
		Source: Text(c.source()), PerChunk: number(c.perChunk()),
	}
}

// ofPrompts is a sum over prompts, unknown if one of them was not counted.
func (c *counts) ofPrompts(sum int) Number {
	if c.uncounted > 0 {
		return Number{}
	}
	return opt.Of(float64(sum))
}

// uncountedNote says which token counts are no counts of the server.
func (c *counts) uncountedNote() string {
	n, ok := c.sources[measure.Chunks], c.requests.OK
	input := iff(c.uncounted > 0, "; input tokens are unknown")
	switch {
	case n == 0:
		return iff(c.uncounted > 0, "input tokens are unknown: the server did not count the prompts of %d of %d successful requests", c.uncounted, ok)
	case n == ok:
		return "token counts are estimates: the server sent no usage, chunks were counted" + input
	}
	return fmt.Sprintf("%d of %d successful requests came without usage: their token counts are estimates, chunks were counted%s", n, ok, input)
}

// tooLong tells, once, that the server has refused prompts as too long often
// enough with the same words: more of them would say nothing new.
func (c *counts) tooLong(r *measure.Request) bool {
	if r.Class != measure.ContextLength || c.endReason != "" {
		return false
	}
	if len(c.refusals) >= maxRefusals && c.refusals[r.Error] == 0 {
		return false
	}
	c.refusals[r.Error]++
	if c.refusals[r.Error] < tooLongLimit {
		return false
	}
	c.endReason = "ended early: the server refuses the prompt as too long: " + r.Error
	return true
}

// source names where the token counts came from; "" without any.
func (c *counts) source() string {
	if len(c.sources) > 1 {
		return "mixed"
	}
	for s := range c.sources {
		return string(s)
	}
	return ""
}

// perChunk is the mean number of tokens in a chunk.
func (c *counts) perChunk() opt.Float { return ratio(c.streamedOut, c.chunks) }

// coalescedShare is the share of chunks that came in one read with another.
func (c *counts) coalescedShare() opt.Float { return ratio(c.coalesced, c.arrivals) }

// successShare is the share of successes among the requests that had a result
// of the server's making.
func (c *counts) successShare() opt.Float {
	return ratio(c.requests.OK, c.requests.OK+c.requests.Failed)
}
