package core

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

// Answers are made of these words. None is longer than a token may be, so one
// word is one token (see tokenize.go).
//
//go:embed words.txt
var wordList string

// word is an entry of the vocabulary: a token that answers are made of.
// Punctuation joins the word before it; anything else has a blank in front,
// except at the start of an answer. All text is ASCII letters, comma, full stop,
// so it needs no escaping in JSON.
type word struct {
	Text string
	ID   uint32 // the token it reads as
}

const (
	comma    = 0
	fullStop = 1
	plain    = 2 // from here on: each word in lower case, then capitalised
)

// Vocabulary is every word that an answer can have.
var Vocabulary = makeVocabulary()

func makeVocabulary() []word {
	list := strings.Fields(wordList)
	all := make([]word, 0, plain+2*len(list))
	add := func(blank, piece string) { all = append(all, word{Text: blank + piece, ID: TokenID(piece)}) }
	add("", ",")
	add("", ".")
	for _, w := range list {
		add(" ", w)
		add(" ", strings.ToUpper(w[:1])+w[1:])
	}
	return all
}

// writer makes up an answer: sentences of 5 to 16 words with a comma here and
// there. The same source of randomness gives the same text.
type writer struct {
	random *rand.Rand
	left   int // words until the full stop
	inside bool
}

// next is the index of the answer's next word in the vocabulary.
func (w *writer) next() uint16 {
	if !w.inside {
		w.inside, w.left = true, 5+w.random.IntN(12)
		return w.pick(1)
	}
	if w.left--; w.left == 0 {
		w.inside = false
		return fullStop
	}
	if w.left > 1 && w.random.IntN(9) == 0 {
		w.left-- // no second comma right behind
		return comma
	}
	return w.pick(0)
}

func (w *writer) pick(capital int) uint16 {
	return uint16(plain + 2*w.random.IntN((len(Vocabulary)-plain)/2) + capital)
}

// appendWord appends the n-th token of an answer.
func appendWord(b []byte, index uint16, n int) []byte {
	text := Vocabulary[index].Text
	if n == 0 {
		text = strings.TrimPrefix(text, " ")
	}
	return append(b, text...)
}
