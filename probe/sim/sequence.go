package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// finish says why an answer ended, in the words of the API.
type finish string

const (
	finishNone   finish = ""
	finishStop   finish = "stop"
	finishLength finish = "length"
	finishAbort  finish = "abort"
)

// ask is what a client wants generated.
type ask struct {
	prompt    []uint32 // token ids, at least one
	salt      string   // prompts with different salts share no cached prefix
	maxTokens int      // of the answer, at least one
	minTokens int
	ignoreEOS bool   // exactly maxTokens
	seed      uint64 // another answer to the same prompt
	stops     []string
	reasoning Reasoning
}

// sequence is a request inside the engine. Instants are on the engine's clock.
type sequence struct {
	ask
	sink   func(words []uint16, end finish) // receives the answer's words, to be copied; must not block
	writer writer
	length int // tokens the answer will have, unless a stop string ends it

	thinking int        // tokens of reasoning at the answer's beginning
	script   transcript // looks for stop strings

	blockTokens int // of a KV block

	tokens    []uint32   // prompt and answer so far
	hashes    []uint64   // of every full block of tokens
	blocks    []blockID  // KV blocks held, in order
	published int        // blocks offered to the prefix cache
	computed  int        // tokens with KV
	cache     *kvCache   // that blocks are of
	chunk     int        // tokens being computed in this iteration, drafts included
	drafts    int        // of these, guessed ones
	luck      *rand.Rand // decides which drafts hold; nil without speculative decoding
	cached    int        // prompt tokens found in the prefix cache
	ended     finish

	arrived, scheduled, first, last time.Duration
	ready                           time.Duration // its KV has come from the prefill pool
	started                         bool          // scheduled is valid
}

// newSequence prepares a request. Everything about its answer follows from the
// engine's seed and the request itself, not from what else is going on.
func newSequence(a ask, engine *setup) *sequence {
	s := &sequence{ask: a, blockTokens: engine.BlockTokens, tokens: slices.Clip(a.prompt)} // appending must not reach into the prompt
	s.hash()
	whole := blockHash(a.seed, a.prompt)
	s.writer.random = rand.New(rand.NewPCG(engine.Seed, whole))
	if engine.SpecTokens > 0 {
		s.luck = luckOf(engine.Seed, whole)
	}
	s.length = a.maxTokens
	if !a.ignoreEOS {
		s.length = min(max(a.reasoning.natural(naturalLength(rand.New(rand.NewPCG(engine.Seed, ^whole)))), a.minTokens), a.maxTokens)
	}
	s.thinking = a.reasoning.tokens(s.length)
	s.script = newTranscript(s)
	return s
}

// naturalLength is how long an answer gets by itself: log-normal, half of them
// below 180 tokens, one in twenty above 480.
func naturalLength(random *rand.Rand) int {
	const median, sigma = 180, 0.6
	return max(1, int(median*math.Exp(sigma*random.NormFloat64())))
}

// hash brings hashes up to date with tokens.
func (s *sequence) hash() {
	for n := len(s.hashes); (n+1)*s.blockTokens <= len(s.tokens); n++ {
		before := uint64(tokenID(s.salt))
		if n > 0 {
			before = s.hashes[n-1]
		}
		s.hashes = append(s.hashes, blockHash(before, s.tokens[n*s.blockTokens:(n+1)*s.blockTokens]))
	}
}

// drop gives back all KV blocks.
func (s *sequence) drop() {
	if s.cache != nil {
		s.cache.release(s.blocks)
	}
	s.cache, s.blocks, s.chunk, s.drafts = nil, nil, 0, 0
}

// generated is the number of answer tokens so far.
func (s *sequence) generated() int { return len(s.tokens) - len(s.prompt) }

// pending is the number of tokens that the next answer token waits for.
func (s *sequence) pending() int { return len(s.tokens) - s.computed }

// cacheable are the hashes of the blocks that may come from the prefix cache:
// at least one token has to be computed to get a next one.
func (s *sequence) cacheable() []uint64 {
	return s.hashes[:min(len(s.hashes), (len(s.tokens)-1)/s.blockTokens)]
}

// append adds the next token of the answer and tells whether it ended.
func (s *sequence) append(now time.Duration) (w uint16) {
	if s.generated() == s.thinking {
		s.writer.inside = false // the answer begins with a sentence
	}
	w = s.writer.next()
	s.tokens = append(s.tokens, vocabulary[w].id)
	s.hash()
	if s.generated() == 1 {
		s.first = now
	}
	s.last = now
	if s.generated() == s.length {
		s.ended = finishLength
		if !s.ignoreEOS && s.length < s.maxTokens {
			s.ended = finishStop
		}
	}
	if s.stopsAt(w) {
		s.ended = finishStop
	}
	return w
}

// stopsAt tells whether the newest token completes a stop string.
func (s *sequence) stopsAt(w uint16) bool {
	if len(s.stops) == 0 {
		return false
	}
	s.script.append(nil, w)
	return s.script.found != ""
}
