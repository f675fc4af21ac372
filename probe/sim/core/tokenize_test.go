package core

import (
	"math/rand/v2"
	"testing"
)

func TestTokenRule(t *testing.T) {
	for text, want := range map[string]int{
		"":                              0,
		" \n\t ":                        0,
		"Hello there, world.":           5,
		"don't stop":                    2,
		"f(x) = x*2;":                   9, // f ( x ) = x * 2 ;
		"sixteencharacter":              1,
		"seventeencharacte" + "rs":      2,
		"naïve café":                    2,
		"日本語":                           3,
		"a\xffb":                        3,
		"one-two  three\n\nfour   five": 6,
	} {
		if got := len(AppendTokens(nil, text)); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
}

func TestAnswersReadBackAsTheirTokens(t *testing.T) {
	w := writer{random: rand.New(rand.NewPCG(1, 2))}
	var text []byte
	var ids []uint32
	for n := range 5000 {
		i := w.next()
		text = appendWord(text, i, n)
		ids = append(ids, Vocabulary[i].ID)
	}
	read := AppendTokens(nil, string(text))
	if len(read) != len(ids) {
		t.Fatalf("%d tokens read back as %d", len(ids), len(read))
	}
	for i := range ids {
		if read[i] != ids[i] {
			t.Fatalf("token %d differs", i)
		}
	}
}

// One message costs its content and four tokens; a second turn begins with the
// whole first one, so that its KV can be used again.
func TestChatTemplate(t *testing.T) {
	first := ChatTokens([]Message{{"user", "Hello there"}})
	if len(first) != 2+4 {
		t.Errorf("%d tokens, want 6", len(first))
	}
	second := ChatTokens([]Message{{"user", "Hello there"}, {"assistant", "Good day."}, {"user", "And?"}})
	for i, id := range first {
		if second[i] != id {
			t.Fatalf("token %d of the second turn differs from the first", i)
		}
	}
}
