package prompt

import (
	"slices"
	"strings"
	"testing"
)

// common is how many words two texts have in common before they differ.
func common(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// On a server that counts ten tokens of template and one for each word, a block of 512
// tokens is 512 words.
func TestEqualBlocksAreEqualTexts(t *testing.T) {
	s := NewSynthetic(Unique, 3)
	s.Learn(s.Next(1034), 1034)
	first := s.Blocks(1634, []uint64{7, 8, 9, 10}, 512)
	for _, c := range []struct {
		tokens   int
		numbers  []uint64
		from, to int // words in common
	}{
		{1634, []uint64{7, 8, 9, 10}, 1624, 1624},
		{1634, []uint64{7, 8, 9, 11}, 1536, 1545},
		{1634, []uint64{7, 8, 5, 10}, 1024, 1033},
		{1634, []uint64{6, 8, 9, 10}, 0, 9},
		{3000, []uint64{7, 8, 9, 20, 21, 22}, 1536, 1545}, // a longer one
		{1034, []uint64{7, 8}, 1024, 1024},                // whole blocks
		{600, []uint64{7, 8}, 512, 600},                   // the rest of the second has other words to order
	} {
		other := s.Blocks(c.tokens, c.numbers, 512)
		if n := common(first.Text, other.Text); n < c.from || n > c.to {
			t.Errorf("%d tokens of %v: %d words in common, want %d to %d", c.tokens, c.numbers, n, c.from, c.to)
		}
		words := strings.Fields(other.Text)
		if len(words) != c.tokens-10 || other.Tokens != c.tokens {
			t.Errorf("%d words for %d tokens", len(words), c.tokens)
		}
		usual := strings.Fields(s.Next(c.tokens).Text)
		slices.Sort(words)
		slices.Sort(usual)
		if !slices.Equal(words, usual) {
			t.Errorf("%d tokens: a prompt of blocks has other words than those whose tokens were counted", c.tokens)
		}
	}
	if again := NewSynthetic(Unique, 3); common(again.Blocks(1034, []uint64{7, 8}, 512).Text, first.Text) < 1024 {
		t.Error("the same seed makes other texts of the same blocks")
	}
}

func TestUnequalBlocksBeginDifferently(t *testing.T) {
	s := NewSynthetic(Unique, 3)
	seen := map[string]uint64{}
	for number := range uint64(2000) {
		start := strings.Join(strings.Fields(s.Blocks(512, []uint64{number}, 512).Text)[:6], " ")
		if other, twice := seen[start]; twice {
			t.Fatalf("blocks %d and %d begin with %q", number, other, start)
		}
		seen[start] = number
	}
}

// A vocabulary that takes two tokens for a word makes blocks of half as many words.
func TestBlocksHaveTheirTokens(t *testing.T) {
	s := NewSynthetic(Unique, 3)
	p := s.Next(1000)
	s.Learn(p, 2*len(strings.Fields(p.Text))+10)
	a, b := s.Blocks(4000, []uint64{1, 2, 3, 4, 5, 6, 7, 8}, 512), s.Blocks(4000, []uint64{1, 2, 3, 9, 10, 11, 12, 13}, 512)
	if n := common(a.Text, b.Text); n < 3*230 || n > 3*282 {
		t.Errorf("three blocks of 512 tokens are %d words, want about 768", n)
	}
}
