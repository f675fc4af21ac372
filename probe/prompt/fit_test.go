package prompt

import (
	"hash/fnv"
	"slices"
	"strings"
	"testing"
)

// vocab counts tokens as a server would, in one of the ways of real vocabularies.
type vocab struct {
	name     string
	overhead int                    // chat template and BOS
	word     func(word string) int  // tokens of a word with the blank before it
	first    func(word string) int  // of the first word, which has no blank; nil: as word
	merges   func(a, b string) bool // two words are one token less together; nil: never
	fixed    int                    // counts this, whatever is sent
}

func (v *vocab) count(text string) int {
	if v.fixed > 0 {
		return v.fixed
	}
	words := strings.Fields(text)
	n := v.overhead
	merged := false
	for i, w := range words {
		switch {
		case i == 0 && v.first != nil:
			n += v.first(w)
		default:
			n += v.word(w)
		}
		if merged = i > 0 && !merged && v.merges != nil && v.merges(words[i-1], w); merged {
			n--
		}
	}
	return n
}

func hash(parts ...string) int {
	h := fnv.New32a()
	for _, p := range parts {
		h.Write([]byte(p + "|"))
	}
	return int(h.Sum32() >> 1)
}

// pieces cuts a word into pieces of so many letters; blank: the blank is one more.
func pieces(letters, blank int) func(string) int {
	return func(w string) int { return blank + (len(w)+letters-1)/letters }
}

// syllables merges a consonant with the vowel behind it, as in a small vocabulary.
func syllables(w string) int {
	n := 1 // the blank
	for i := 0; i < len(w); i++ {
		if n++; i+1 < len(w) && !strings.ContainsRune("aeiou", rune(w[i])) && strings.ContainsRune("aeiou", rune(w[i+1])) {
			i++
		}
	}
	return n
}

func vocabularies() []vocab {
	plain := func(string) int { return 1 }
	longInPieces := func(w string) int { return 1 + (len(w)-1)/5 }
	longCut := func(n int) func(string) int {
		return func(w string) int {
			if len(w) > 3 && hash(w)%n == 0 {
				return 2
			}
			return 1
		}
	}
	var all []vocab
	for _, overhead := range []int{0, 1, 7, 17, 41} {
		all = append(all,
			vocab{name: "whole words", overhead: overhead, word: plain},
			vocab{name: "one word in eight is cut", overhead: overhead, word: longCut(8), first: longInPieces},
			vocab{name: "one word in three is cut", overhead: overhead, word: longCut(3), first: longInPieces},
			vocab{name: "merges across words", overhead: overhead, word: plain, merges: func(a, b string) bool { return hash(a, b)%40 == 0 }},
			vocab{name: "half words", overhead: overhead, word: pieces(3, 0)},
			vocab{name: "syllables", overhead: overhead, word: syllables},
			vocab{name: "letters", overhead: overhead, word: pieces(1, 1), first: pieces(1, 0)},
		)
	}
	return all
}

// fitted counts trials until a length is fitted.
func fitted(s *Synthetic, v *vocab, tokens, most int) (trials int) {
	for trials < most {
		p, more := s.Trial(tokens, 0)
		if !more {
			break
		}
		s.Learn(p, v.count(p.Text))
		trials++
	}
	return trials
}

// With every vocabulary at most four counts fit the length, and then every prompt of a run has
// it within one token. Where a tokenizer merges across blanks an order may be two off.
func TestEveryPromptHasTheRequestedLength(t *testing.T) {
	for _, v := range vocabularies() {
		for _, prefix := range Prefixes {
			for _, tokens := range []int{64, 256, 1024, 4000} {
				sum, worst := 0, 0
				for seed := range uint64(4) {
					s := NewSynthetic(prefix, seed)
					fitted(s, &v, tokens, 4)
					for range 10 {
						n := distance(v.count(s.Next(tokens).Text), tokens)
						sum, worst = sum+n, max(worst, n)
					}
				}
				if v.merges == nil && worst > 1 || worst > 3 || sum > 40 {
					t.Errorf("%s and %d, %s, %d tokens: off by %.2f on average and %d at most", v.name, v.overhead, prefix, tokens, float64(sum)/40, worst)
				}
			}
		}
	}
}

// The vocabulary of a usual model has a token for every word: the second count confirms
// what the first one showed.
func TestUsualVocabularyTakesTwoCounts(t *testing.T) {
	v := vocab{overhead: 17, word: func(string) int { return 1 }}
	for _, tokens := range []int{64, 256, 1024, 8192} {
		if n := fitted(NewSynthetic(Unique, 1), &v, tokens, 10); n != 2 {
			t.Errorf("%d tokens took %d counts, want 2", tokens, n)
		}
	}
}

// What answers show is learned while a load runs, also without any count before it.
func TestLengthIsLearnedFromAnswers(t *testing.T) {
	for _, v := range vocabularies() {
		s := NewSynthetic(Unique, 7)
		for _, tokens := range []int{256, 1024, 64, 4000} {
			var got int
			for range 6 {
				p := s.Next(tokens)
				got = v.count(p.Text)
				s.Learn(p, got)
			}
			if v.merges == nil && distance(got, tokens) > 1 || distance(got, tokens) > 3 {
				t.Errorf("%s and %d: %d tokens instead of %d in the sixth answer", v.name, v.overhead, got, tokens)
			}
		}
	}
}

// A server that counts the same whatever is sent ends the search: the first guess stays.
func TestConstantCountEndsTheSearch(t *testing.T) {
	s := NewSynthetic(Unique, 1)
	v := vocab{fixed: 1107}
	first := s.Next(1024)
	s.Learn(first, v.count(first.Text))
	if n := fitted(s, &v, 1024, 100); n > mostTries {
		t.Errorf("%d counts", n)
	}
	if p, more := s.Trial(1024, 0); more || p.shape != first.shape {
		t.Errorf("%+v after the search, want %+v", p.shape, first.shape)
	}
	if n, ok := s.Nearest(1024); n != 1107 || !ok {
		t.Errorf("the nearest count is %d", n)
	}
}

// Some servers cut what does not fit their context, and count what is left.
func TestCutPromptsMisleadOnce(t *testing.T) {
	v := vocab{overhead: 17, word: syllables}
	s := NewSynthetic(Unique, 1)
	for range 6 {
		if p, more := s.Trial(1024, 0); more {
			s.Learn(p, min(2048, v.count(p.Text)))
		}
	}
	if n := v.count(s.Next(1024).Text); distance(n, 1024) > 1 {
		t.Errorf("%d tokens after %+v", n, s.fit.counted)
	}
}

// Prompts of one length have the same words, and no two the same beginning.
func TestUniquePromptsAreOrdersOfTheSameWords(t *testing.T) {
	for _, tokens := range []int{24, 100, 1000} {
		s := NewSynthetic(Unique, 3)
		seen, bag := map[string]bool{}, ""
		for range 200 {
			words := strings.Fields(s.Next(tokens).Text)
			if start := strings.Join(words[:6], " "); seen[start] {
				t.Errorf("%d tokens: two prompts begin with %q", tokens, start)
			} else {
				seen[start] = true
			}
			slices.Sort(words)
			if all := strings.Join(words, " "); bag == "" {
				bag = all
			} else if all != bag {
				t.Fatalf("%d tokens: other words", tokens)
			}
		}
	}
}

func TestShortestPrompt(t *testing.T) {
	s := NewSynthetic(Unique, 1)
	v := vocab{overhead: 20, word: func(string) int { return 1 }}
	fitted(s, &v, 5, 4)
	if p := s.Next(5); len(strings.Fields(p.Text)) != 1 {
		t.Errorf("%q", p.Text)
	}
}
