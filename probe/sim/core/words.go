package core

import (
	"math/rand/v2"
	"strings"
)

// Answers are made of these words. None is longer than a token may be, so one
// word is one token (see tokenize.go).
const wordList = `
a about above across after again air all along also always among an and another any apart are area around as ask at
away back balance band base batch be because become before begin behind below between block both branch bridge bright
bring broad build but by cable call can carry case center certain change clear climb close cloud coast cold collect
common compare complete copper corner could count course cover cross current cycle day deep degree depth describe
design different direct distance door down draw drift drive dry each early earth east easy edge either electric
element empty end energy engine enough equal even evening every exact example experiment explain fall far fast few
field figure fill final find fine fire first fit flat floor flow follow for force forest form forward found frame
free frequency from front full garden gather gentle glass go gold grain great green ground group grow half hand happen
harbor hard heat heavy height here high hill hold hour how idea if in inside instead into iron island it its join just
keep kind know lake lamp land large last late later layer lead learn leave left length less letter level lift light
like limit line listen little long look low machine main make many map mark matter mean measure memory metal method
middle might mild mirror model moment more morning most motion mountain move much music narrow natural near need never
new next night noise north note nothing now number ocean of often old on once one only open or orbit order other our
out over page paper part pass path pattern people perhaps period picture piece place plain plan plane plant play point
power present press pressure problem process pull pulse push question quick quiet quite rain raise range rate rather
reach read ready real reason record region remain rest result return right ring rise river road rock room root rough
round rule run safe same sand scale science sea season second see seem separate set several shape sharp shore short
show side signal silver simple since single size sky slow small smooth snow so soft soil some sound source south space
speed spring stand star start station stay steady steam steel step still stone stop story straight stream strong
structure study such sum summer sun surface system table take talk tell temperature ten than that the their then
theory there these thick thin thing think this those though thread three through tide time to together too tool top
total toward town track trade travel tree true turn two under unit until up upper use usual valley value vary very
view village voice volume wait walk wall warm water wave way weather weight well west what wheel when where which while
white whole why wide will wind window winter wire with within without wood word work world would write yard year yet
`

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
