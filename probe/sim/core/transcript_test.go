package core

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// feed gives a text to a transcript in pieces, and joins what it shows.
func feed(stops []string, pieces ...string) (shown []string, found string) {
	tr := Transcript{stops: stops}
	for _, p := range pieces {
		tr.held = append(tr.held, p...)
		show := tr.search()
		shown = append(shown, string(tr.held[:show]))
		tr.held = tr.held[show:]
		if tr.Found != "" {
			return shown, tr.Found
		}
	}
	return append(shown, string(tr.held)), ""
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
		shown, found := feed(c.stops, c.pieces...)
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
		shown, found := feed(stops, pieces...)
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
