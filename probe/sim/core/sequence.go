package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// FinishReason is why an answer ended, in the words of the API.
type FinishReason string

const (
	Unfinished   FinishReason = ""
	FinishStop   FinishReason = "stop"
	FinishLength FinishReason = "length"
	FinishAbort  FinishReason = "abort"
)

// Request is what a client requests.
type Request struct {
	Prompt    []uint32 // token ids, at least one
	Salt      string   // prompts with different salts share no cached prefix
	MaxTokens int      // of the answer, at least one
	MinTokens int
	IgnoreEOS bool   // exactly MaxTokens
	Seed      uint64 // a different answer to the same prompt
	Stops     []string
	Reasoning Reasoning
}

// Sequence is a request inside the engine. Instants are on the engine's clock.
type Sequence struct {
	Request
	Sink   func(words []uint16, end FinishReason) // receives the answer's words and has to copy them; must not block
	writer writer
	length int // tokens the answer will have, unless a stop string ends it

	Thinking int        // tokens of reasoning at the answer's beginning
	script   Transcript // looks for stop strings

	blockTokens int // of a KV block

	tokens      []uint32   // prompt and answer so far
	hashes      []uint64   // of every full block of tokens
	blocks      []blockID  // KV blocks held, in order
	published   int        // blocks offered to the prefix cache
	computed    int        // tokens with KV
	cache       *kvCache   // that the blocks belong to
	chunk       int        // tokens being computed in this iteration, drafts included
	drafts      int        // of these
	draftRandom *rand.Rand // decides which drafts are accepted; nil without speculative decoding
	Cached      int        // prompt tokens found in the prefix cache
	ended       FinishReason

	Arrived, Scheduled, First, Last time.Duration
	ready                           time.Duration // its KV has arrived from the prefill pool
	started                         bool          // Scheduled is valid
}

// NewSequence prepares a request. Everything about its answer follows from the
// engine's seed and the request itself, not from other requests.
func NewSequence(a Request, engine *Setup) *Sequence {
	s := &Sequence{Request: a, blockTokens: engine.BlockTokens, tokens: slices.Clip(a.Prompt)} // appending must not reach into the prompt
	s.hash()
	whole := blockHash(a.Seed, a.Prompt)
	s.writer.random = rand.New(rand.NewPCG(engine.Seed, whole))
	if engine.SpecTokens > 0 { // apart from the words, which stay the same with other drafts
		const another = 0x9e3779b97f4a7c15
		s.draftRandom = rand.New(rand.NewPCG(engine.Seed^another, whole))
	}
	s.length = a.MaxTokens
	if !a.IgnoreEOS {
		s.length = min(max(a.Reasoning.natural(naturalLength(rand.New(rand.NewPCG(engine.Seed, ^whole)))), a.MinTokens), a.MaxTokens)
	}
	s.Thinking = a.Reasoning.tokens(s.length)
	s.script = NewTranscript(s)
	return s
}

// naturalLength is the length of an answer without a limit: log-normal, half of them
// below 180 tokens, one in twenty above 480.
func naturalLength(random *rand.Rand) int {
	const median, sigma = 180, 0.6
	return max(1, int(median*math.Exp(sigma*random.NormFloat64())))
}

// hash brings hashes up to date with tokens.
func (s *Sequence) hash() {
	for n := len(s.hashes); (n+1)*s.blockTokens <= len(s.tokens); n++ {
		before := uint64(TokenID(s.Salt))
		if n > 0 {
			before = s.hashes[n-1]
		}
		s.hashes = append(s.hashes, blockHash(before, s.tokens[n*s.blockTokens:(n+1)*s.blockTokens]))
	}
}

// drop gives back all KV blocks.
func (s *Sequence) drop() {
	if s.cache != nil {
		s.cache.release(s.blocks)
	}
	s.cache, s.blocks, s.chunk, s.drafts = nil, nil, 0, 0
}

// Generated is the number of answer tokens so far.
func (s *Sequence) Generated() int { return len(s.tokens) - len(s.Prompt) }

// pending is the number of tokens that the next answer token waits for.
func (s *Sequence) pending() int { return len(s.tokens) - s.computed }

// cacheable returns the hashes of the blocks that may come from the prefix cache. At
// least one token must be computed to get a next one.
func (s *Sequence) cacheable() []uint64 {
	return s.hashes[:min(len(s.hashes), (len(s.tokens)-1)/s.blockTokens)]
}

// append adds the next token of the answer, and ends the answer if it is the last.
func (s *Sequence) append(now time.Duration) (w uint16) {
	if s.Generated() == s.Thinking {
		s.writer.inside = false // the answer begins with a sentence
	}
	w = s.writer.next()
	s.tokens = append(s.tokens, Vocabulary[w].ID)
	s.hash()
	now = max(now, s.Scheduled) // arrivals are stamped outside: the engine's own time may be a moment behind
	if s.Generated() == 1 {
		s.First = now
	}
	s.Last = now
	if s.Generated() == s.length {
		s.ended = FinishLength
		if !s.IgnoreEOS && s.length < s.MaxTokens {
			s.ended = FinishStop
		}
	}
	if len(s.Stops) > 0 {
		if s.script.Append(nil, w); s.script.Found != "" {
			s.ended = FinishStop
		}
	}
	return w
}

// Reasoning is how much a model thinks before it answers: a share of the answer's
// tokens below 1, a number of tokens from 1 on, 0 not at all.
type Reasoning float64

func (r Reasoning) check() error {
	if v := float64(r); !(v >= 0) || v > 1e6 || v >= 1 && v != math.Trunc(v) {
		return fmt.Errorf("simulated engine: reasoning must be a share below 1 or a whole number of tokens, not %g", v)
	}
	return nil
}

// natural is the length of an answer that ends by itself, with what precedes it.
func (r Reasoning) natural(length int) int {
	if r < 1 {
		return int(math.Round(float64(length) / (1 - min(float64(r), 0.999))))
	}
	return length + int(r)
}

// tokens is the number of tokens of reasoning in an answer of that length. A limit
// on the answer may end it before it has begun to answer.
func (r Reasoning) tokens(length int) int {
	if r < 1 {
		return int(float64(r) * float64(length))
	}
	return min(int(r), length)
}
