package prompt

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// Synthetic makes prompts of random words. All prompts of one length have the same words in
// different orders: tokenizers cut text at blanks, so that every order has the same number
// of tokens, and a length that fits one prompt fits all. With the same seed the n-th prompt
// of a run is the same in every run.
type Synthetic struct {
	seed uint64

	mu     sync.Mutex // guards what follows
	prefix Prefix
	fixed  bool // lengths are not learned while running: bodies repeat exactly
	count  uint64
	fit    fit
	block  int // words of a block; 0: not yet known
}

// NewSynthetic makes a source of prompts from a seed.
func NewSynthetic(prefix Prefix, seed uint64) *Synthetic {
	return &Synthetic{prefix: prefix, seed: seed, fit: fit{text: text{random: rand.New(rand.NewPCG(seed, 0))}, tries: map[int]int{}}}
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

// ordersDiffer is by how many tokens orders of the same words may differ.
const ordersDiffer = 1

// Next is a prompt of about the requested number of tokens, at least one word.
func (s *Synthetic) Next(tokens int) Prompt {
	s.mu.Lock()
	s.count++
	n, prefix := s.count, s.prefix
	shape, _ := s.fit.next(tokens, ordersDiffer)
	words := s.fit.text.words(shape)
	s.mu.Unlock()

	common := 0
	switch prefix {
	case Shared:
		common = len(words) / 2
	case Same:
		common = len(words)
	}
	reorder(words[common:], rand.New(rand.NewPCG(s.seed, n)))
	return Prompt{Text: strings.Join(words, " "), Tokens: tokens, shape: shape}
}

// Trial is the next prompt to count in order to fit a length, in the plain order of its
// words; more is false when a counted one is within the tolerance, or nothing else is left
// to try.
func (s *Synthetic) Trial(tokens, tolerance int) (p Prompt, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shape, more := s.fit.next(tokens, tolerance)
	return Prompt{Text: strings.Join(s.fit.text.words(shape), " "), Tokens: tokens, shape: shape}, more
}

// Nearest is the count that came nearest to a length; false if nothing was counted.
func (s *Synthetic) Nearest(tokens int) (counted int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, ok := s.fit.nearest(tokens)
	if !ok {
		return 0, false
	}
	return best.tokens(), true
}

// Learn takes the server's own count of a prompt's tokens.
func (s *Synthetic) Learn(p Prompt, tokens int) {
	if p.shape.words == 0 || tokens <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		s.fit.add(p.shape, p.Tokens, tokens)
	}
}

// reorder gives words an order of their own and leaves most neighbours together: where a
// tokenizer merges across blanks, a full shuffle would change the number of tokens. It
// turns the ring of words and brings a few to the front. The very first word is a short one:
// without a blank before it, a long one may be cut into more pieces.
func reorder(words []string, r *rand.Rand) {
	front := 3
	if len(words) < 16 { // too few for enough different beginnings
		front = len(words)
	}
	first := r.IntN(max(1, len(words)))
	for i := range words {
		if at := (first + i) % len(words); isShort(words[at]) {
			first = at
			break
		}
	}
	copy(words, slices.Concat(words[first:], words[:first]))
	for i := 1; i <= min(front, len(words)-1); i++ {
		from := i + r.IntN(len(words)-i)
		word := words[from]
		copy(words[i+1:from+1], words[i:from])
		words[i] = word
	}
}

func isShort(word string) bool { return len(word) <= 3 }

// text is a sequence of random words, drawn as far as they are needed.
type text struct {
	random *rand.Rand
	drawn  []string
}

// first returns the first n words.
func (t *text) first(n int) []string {
	for len(t.drawn) < n {
		word := vocabulary[t.random.IntN(len(vocabulary))]
		if len(t.drawn) > 0 || isShort(word) {
			t.drawn = append(t.drawn, word)
		}
	}
	return t.drawn[:n]
}

// words returns those of a prompt.
func (t *text) words(s shape) []string {
	return slices.Concat(t.first(s.words), slices.Repeat([]string{filler}, s.fillers))
}

// vocabulary holds short, common English words, most of which are one token in
// the vocabularies of today's models.
var vocabulary = strings.Fields(vocabularyText)

//go:embed vocabulary.txt
var vocabularyText string
