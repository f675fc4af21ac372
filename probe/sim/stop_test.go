package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// feed gives a text to a finder in pieces, and joins what it shows.
func feed(f *stopFinder, pieces ...string) (shown []string, found string) {
	for _, p := range pieces {
		safe, hit := f.add([]byte(p))
		shown = append(shown, string(safe))
		if hit != "" {
			return shown, hit
		}
	}
	return append(shown, string(f.held)), ""
}

func TestStopStringsAreHeldBackUntilClear(t *testing.T) {
	for _, c := range []struct {
		stops  []string
		pieces []string
		shown  []string // by piece; the last one is the rest, if nothing was found
		found  string
	}{
		{[]string{"END"}, []string{"one", " EN", "D more"}, []string{"one", " ", ""}, "END"},
		{[]string{"END"}, []string{"one", " EN", "TER"}, []string{"one", " ", "ENTER", ""}, ""},
		{[]string{"END"}, []string{"one", " E"}, []string{"one", " ", "E"}, ""},
		{[]string{"aab"}, []string{"a", "a", "a", "b"}, []string{"", "", "a", ""}, "aab"}, // the first a was none of it
		{[]string{"late", "a"}, []string{"a late"}, []string{""}, "a"},                    // the earliest place counts
		{[]string{". "}, []string{"Yes", ".", " No"}, []string{"Yes", "", ""}, ". "},
		{[]string{"x"}, []string{"abc"}, []string{"abc", ""}, ""},
	} {
		shown, found := feed(&stopFinder{stops: c.stops}, c.pieces...)
		if fmt.Sprintf("%q", shown) != fmt.Sprintf("%q", c.shown) || found != c.found {
			t.Errorf("%q in %q: shown %q, found %q; want %q, %q", c.stops, c.pieces, shown, found, c.shown, c.found)
		}
	}
}

// However a text is cut, what is shown is what comes before the first stop string,
// and nothing is shown that has to be taken back.
func TestStopStringsInRandomPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("ab."[random.IntN(3)])
		}
		return b.String()
	}
	for range 20000 {
		whole := text(random.IntN(30))
		stops := []string{text(1 + random.IntN(4)), text(1 + random.IntN(4))}
		want := whole
		for _, stop := range stops {
			if i := strings.Index(whole, stop); i >= 0 && i < len(want) {
				want = whole[:i]
			}
		}
		var pieces []string
		for rest := whole; rest != ""; {
			n := 1 + random.IntN(len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		shown, found := feed(&stopFinder{stops: stops}, pieces...)
		// A stop string that ends in an earlier piece wins over one that began
		// before it and ends later: the engine cannot know.
		got := strings.Join(shown, "")
		if found == "" && got != whole || found != "" && !strings.HasPrefix(whole, got) || len(got) < len(want) {
			t.Fatalf("%q in %q: shown %q, found %q, want at least %q", stops, pieces, got, found, want)
		}
		if found != "" && !strings.HasPrefix(whole[len(got):], found) {
			t.Fatalf("%q in %q: shown %q, but %q does not follow", stops, pieces, got, found)
		}
	}
}

// answerTo is the whole text of an answer without stop strings.
func answerTo(t *testing.T, base string, ask map[string]any) string {
	t.Helper()
	v := decode(t, post(t, base+"/v1/chat/completions", ask))
	return v["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"].(string)
}

// A stop string over two tokens: the text before it, one token for each word of it,
// and the usage of what was generated.
func TestAnswersStopAtAStopString(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Tell me about rivers."), "max_tokens": 60, "ignore_eos": true}
	words := strings.Split(answerTo(t, base, ask), " ")
	stop := words[20] + " " + words[21]
	whole := strings.Join(words, " ")
	want := whole[:strings.Index(whole, stop)]
	tokens := len(appendTokens(nil, want+stop))

	ask["stop"] = stop
	v := decode(t, post(t, base+"/v1/chat/completions", ask))
	choice := v["choices"].([]any)[0].(map[string]any)
	if got := choice["message"].(map[string]any)["content"]; got != want || choice["finish_reason"] != "stop" || choice["stop_reason"] != stop {
		t.Errorf("%v, want the text %q", choice, want)
	}
	if n := v["usage"].(map[string]any)["completion_tokens"]; n != float64(tokens) {
		t.Errorf("%v tokens, want %d", n, tokens)
	}

	ask["stop"], ask["stream"] = []string{"never said", stop}, true
	ask["stream_options"] = map[string]any{"include_usage": true}
	s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body)
	if s.text != want || s.finish != "stop" || !s.done || s.usage["completion_tokens"] != float64(tokens) {
		t.Errorf("stream of %q, finish %q, usage %v", s.text, s.finish, s.usage)
	}
	// The role, a chunk for each token, the finish and the usage: tokens that show
	// nothing have a chunk too.
	if len(s.events) != 1+tokens+1+1 {
		t.Errorf("%d events for %d tokens", len(s.events), tokens)
	}
}

func TestNothingStopsAnAnswerBeforeItsMinimum(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Hi"), "max_tokens": 40, "min_tokens": 30, "stop": []string{"a", "e", "i", "o", "u"}}
	v := decode(t, post(t, base+"/v1/chat/completions", ask))
	n := v["usage"].(map[string]any)["completion_tokens"].(float64)
	if n < 30 || n > 40 || v["choices"].([]any)[0].(map[string]any)["finish_reason"] != "stop" {
		t.Errorf("%v", v)
	}
}

func TestHeldTextComesWithTheEnd(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Hi"), "max_tokens": 10, "ignore_eos": true}
	whole := answerTo(t, base, ask)
	ask["stop"], ask["stream"] = whole[len(whole)-4:]+"?", true // could begin with the last letters
	if s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body); s.text != whole || s.finish != "length" {
		t.Errorf("%q, finish %q; want %q", s.text, s.finish, whole)
	}
}
