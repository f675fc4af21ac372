package prompt

import (
	"math"
	"slices"
)

// shape is what a prompt is made of: the first words of a text, and fillers.
type shape struct{ words, fillers int }

// filler is a word for the last few tokens, as short as a word can be.
const filler = "a"

// count is what a server counted in prompts of a shape, with its chat template. Orders of
// the same words may differ by a token or two.
type count struct {
	shape
	sum, n int
}

// tokens is the mean.
func (c count) tokens() int { return (c.sum + c.n/2) / c.n }

// fit finds the shape of a prompt that has a requested number of tokens, from counts of
// other shapes. A longer prompt contains the shorter ones, so that a difference between two
// counts is due to the words between them and to nothing else.
type fit struct {
	text    text
	counted []count     // the first ones first
	tries   map[int]int // shapes that were counted for a requested length
}

const (
	guessOverhead   = 10 // tokens of a usual chat template
	mostOverhead    = 24 // of one, where a word looks like a token
	longestTemplate = 80
	notCut          = 0.75 // of the mean tokens of a word
	spelled         = 2.5  // tokens of a word where vocabularies have no common words
	// mostTries ends the search for a length: some servers count what was never sent.
	mostTries = 8
)

// add takes the count of a shape that was made for a requested length.
func (f *fit) add(s shape, requested, tokens int) {
	for i := range f.counted {
		if c := &f.counted[i]; c.shape == s {
			c.sum, c.n = c.sum+tokens, c.n+1
			return
		}
	}
	f.counted = append(f.counted, count{s, tokens, 1})
	f.tries[requested]++
}

func (f *fit) knows(s shape) bool {
	return s.words == 0 || slices.ContainsFunc(f.counted, func(c count) bool { return c.shape == s })
}

// nearest is the count that is nearest to a number of tokens.
func (f *fit) nearest(tokens int) (best count, ok bool) {
	for i, c := range f.counted {
		if i == 0 || distance(c.tokens(), tokens) < distance(best.tokens(), tokens) {
			best = c
		}
	}
	return best, len(f.counted) > 0
}

func distance(a, b int) int { return max(a-b, b-a) }

// next is the shape to use for a number of tokens: a counted one within the tolerance, or
// the most promising other one. more is false if it was counted.
func (f *fit) next(tokens, tolerance int) (s shape, more bool) {
	best, ok := f.nearest(tokens)
	if !ok {
		return shape{words: max(1, tokens-guessOverhead)}, true
	}
	if distance(best.tokens(), tokens) > tolerance && f.tries[tokens] < mostTries {
		from := best
		for _, c := range f.counted {
			if c.tokens() == best.tokens() { // the last one: what was cut shows nothing of its words
				from = c
			}
		}
		if s = f.step(from, tokens); !f.knows(s) {
			return s, true
		}
		if s = f.filled(tokens); !f.knows(s) {
			return s, true
		}
	}
	return best.shape, false
}

// filled is the longest counted shape that is too short, with fillers: what is left to try
// where the words on either side of a length jump over it.
func (f *fit) filled(tokens int) shape {
	var low count
	for _, c := range f.counted {
		if c.tokens() < tokens && (low.n == 0 || c.tokens() > low.tokens()) {
			low = c
		}
	}
	if low.words > 0 {
		low.fillers += int(math.Round(float64(tokens-low.tokens()) / f.costs(low).filler))
	}
	return low.shape
}

// step goes from a counted shape to one that should have the requested tokens: by whole
// words, and by fillers for what is left.
func (f *fit) step(from count, tokens int) shape {
	costs := f.costs(from)
	s, left := from.shape, float64(tokens-from.tokens())
	for {
		cost := costs.of(f.text.first(s.words + 1)[s.words])
		if left < cost {
			break
		}
		left -= cost
		s.words++
	}
	for s.words > 1 && math.Round(left/costs.filler) < -float64(s.fillers) {
		s.words--
		left += costs.of(f.text.first(s.words + 1)[s.words])
	}
	s.fillers = max(0, s.fillers+int(math.Round(left/costs.filler)))
	return s
}

// costs estimates the tokens of words. In the vocabulary of a usual model each common word
// is one token; a poorer one spells words, and pays for their letters.
type costs struct{ word, letter, filler float64 }

func (c costs) of(word string) float64 { return c.word + c.letter*float64(len(word)-1) }

// costs follow from a count, and from the one whose number of words differs most. One that
// is too near in tokens was cut by the server, which keeps what fits its context.
func (f *fit) costs(from count) costs {
	to := count{sum: guessOverhead, n: 1} // nothing but the template
	if more := from.tokens() - from.words; more >= 0 && more <= mostOverhead {
		to.sum = more // the template's, and a token for each word
	}
	c := costs{word: 1, filler: 1}
	atLeast := notCut * float64(from.tokens()-longestTemplate) / float64(from.words)
	apart := 0
	for _, other := range f.counted {
		d := distance(other.words, from.words)
		if d > apart && d >= max(8, from.words/10) && float64(distance(other.tokens(), from.tokens())) > atLeast*float64(d) {
			to, apart = other, d
		}
		if fillers := other.fillers - from.fillers; fillers != 0 && d == 0 {
			if cost := float64(other.tokens()-from.tokens()) / float64(fillers); cost >= 0.3 && cost <= 6 {
				c.filler = cost
			}
		}
	}
	words, tokens := float64(from.words-to.words), float64(from.tokens()-to.tokens())-float64(from.fillers-to.fillers)*c.filler
	switch each := tokens / words; {
	case each < 0.2 || each > 20: // the server counts something else
		return c
	case each < 1:
		c.word = each
		return c
	case each > spelled: // the blank is a token too
		c.word = 2
		c.filler = max(c.filler, 2)
	}
	letters := 1
	for _, word := range f.text.first(max(from.words, to.words))[min(from.words, to.words):] {
		letters += len(word) - 1
	}
	c.letter = max(0, math.Abs(tokens)-c.word*math.Abs(words)) / float64(letters)
	return c
}
