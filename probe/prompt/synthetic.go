package prompt

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// Synthetic makes prompts of random words. With the same seed the n-th prompt of
// a run has the same words in every run.
type Synthetic struct {
	seed uint64

	mu     sync.Mutex // guards what follows
	prefix Prefix
	fixed  bool // lengths are not learned while running: bodies repeat exactly
	count  uint64
	fit    fit
}

// NewSynthetic makes a source of prompts from a seed.
func NewSynthetic(prefix Prefix, seed uint64) *Synthetic {
	return &Synthetic{prefix: prefix, seed: seed, fit: newFit()}
}

// SetPrefix chooses what the prompts from now on have in common.
func (s *Synthetic) SetPrefix(p Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefix = p
}

// Freeze stops learning, so that from here on the same seed gives the same
// bodies however fast the server answers.
func (s *Synthetic) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = true
}

// Next is a prompt of about the requested number of tokens, at least one word.
func (s *Synthetic) Next(tokens int) Prompt {
	s.mu.Lock()
	s.count++
	n, prefix := s.count, s.prefix
	words := s.fit.words(tokens)
	s.mu.Unlock()

	var b strings.Builder
	common := 0
	switch prefix {
	case Shared:
		common = words / 2
	case Same:
		common = words
	}
	writeWords(&b, rand.New(rand.NewPCG(s.seed, 0)), common)
	writeWords(&b, rand.New(rand.NewPCG(s.seed, n)), words-common)
	return Prompt{Text: b.String(), Words: words, Tokens: tokens}
}

// Learn takes the server's own count of a prompt's tokens.
func (s *Synthetic) Learn(p Prompt, tokens int) {
	if p.Words == 0 || tokens <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		s.fit.add(p.Words, tokens)
	}
}

func writeWords(b *strings.Builder, r *rand.Rand, n int) {
	for range n {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
}

// fit is the line tokens = overhead + perWord·words: a chat template costs a
// fixed number of tokens, and a tokenizer cuts words into pieces.
type fit struct {
	overhead, perWord float64
	small, large      point // the shortest and the longest prompt counted
}

type point struct{ words, tokens float64 }

const (
	guessOverhead = 10  // a usual chat template
	guessPerWord  = 1.0 // common words are one token in most vocabularies
	// Two lengths separate slope and offset only if they differ by more than the
	// scatter of random words.
	apart = 1.5
)

func newFit() fit { return fit{overhead: guessOverhead, perWord: guessPerWord} }

// words is how many words make about the given number of tokens.
func (f *fit) words(tokens int) int {
	return max(1, int(math.Round((float64(tokens)-f.overhead)/f.perWord)))
}

func (f *fit) add(words, tokens int) {
	p := point{float64(words), float64(tokens)}
	if f.small.words == 0 || p.words <= f.small.words {
		f.small = p
	}
	if p.words >= f.large.words {
		f.large = p
	}
	if f.large.words >= f.small.words*apart && f.large.words-f.small.words >= 8 {
		slope := (f.large.tokens - f.small.tokens) / (f.large.words - f.small.words)
		if slope > 0.2 && slope < 20 {
			f.perWord = slope
			f.overhead = f.small.tokens - slope*f.small.words
			return
		}
	}
	// One length only: the overhead stays a guess, the slope makes it exact here.
	if slope := (p.tokens - f.overhead) / p.words; slope > 0.2 && slope < 20 {
		f.perWord = slope
	}
}

// vocabulary holds short, common English words, most of which are one token in
// the vocabularies of today's models.
var vocabulary = strings.Fields(vocabularyText)

//go:embed vocabulary.txt
var vocabularyText string
