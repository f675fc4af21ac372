package prompt

import (
	"math/rand/v2"
	"strings"
)

// Blocks is a prompt of about the requested number of tokens that consists of blocks of
// blockTokens each: the text of a block follows from its number and its place, so that prompts
// that begin with the same numbers begin with the same text, as far as a prefix cache can
// reuse it. The last block takes what is left.
func (s *Synthetic) Blocks(tokens int, numbers []uint64, blockTokens int) Prompt {
	s.mu.Lock()
	shape, _ := s.fit.next(tokens, ordersDiffer)
	words := s.fit.text.words(shape)
	if s.block == 0 { // fixed from here on: another length would change the text of every block
		s.block = s.fit.wordsOf(blockTokens)
	}
	length := s.block
	s.mu.Unlock()

	for i, rest := 0, words; len(rest) > 0 && i < len(numbers); i++ {
		end := min(length, len(rest))
		if i == len(numbers)-1 {
			end = len(rest)
		}
		reorder(rest[:end], rand.New(rand.NewPCG(s.seed^numbers[i], blockStream)))
		rest = rest[end:]
	}
	return Prompt{Text: strings.Join(words, " "), Tokens: tokens, shape: shape}
}

// blockStream numbers the random stream of the blocks, apart from those of the prompts.
const blockStream = 1 << 63

// wordsOf is how many words have about so many tokens, by what was counted last.
func (f *fit) wordsOf(tokens int) int {
	c := costs{word: 1}
	if len(f.counted) > 0 {
		c = f.costs(f.counted[len(f.counted)-1])
	}
	n := 0
	for left := float64(tokens); left > 0 && n < tokens; n++ {
		left -= c.of(f.text.first(n + 1)[n])
	}
	return max(1, n)
}
