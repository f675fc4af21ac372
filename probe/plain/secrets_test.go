package plain

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	secrets := []string{"sk/abc+def=ghi jklmnop", "short"}
	for in, want := range map[string]string{
		"bad key sk/abc+def=ghi jklmnop.":           "bad key ….",
		"bad key sk%2Fabc%2Bdef%3Dghi%20jklmnop.":   "bad key ….",
		"bad key sk%2fabc%2bdef%3dghi+jklmnop.":     "bad key ….",
		"bad key sk/abc%2Bdef=ghi%20jklmnop.":       "bad key ….",
		"bad key sk%252Fabc%252Bdef=ghi%20jklmnop.": "bad key ….",
		"bad key ***i%20jklmnop.":                   "bad key ***i….",
		"a short word":                              "a short word",
	} {
		if got := Hide(in, secrets); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Hide("key=g%C3%BCnstige%20T%C3%BCr", []string{"günstige Tür"}); got != "key=…" {
		t.Errorf("%q", got)
	}
}

// The same as a regular expression, which is clearer and ten times slower.
func TestHideFindsWhatAPatternFinds(t *testing.T) {
	const secret = "a%2 ü+Z%"
	var pattern strings.Builder
	for _, r := range secret {
		pattern.WriteString("(?:" + regexp.QuoteMeta(string(r)))
		if r == ' ' {
			pattern.WriteString(`|\+`)
		}
		pattern.WriteByte('|')
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&pattern, "(?i:%%(?:25)*%02x)", c)
		}
		pattern.WriteByte(')')
	}
	echo, r := regexp.MustCompile(pattern.String()), rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "%61", "%", "%25", "%2525", "2", "%32", " ", "+", "%20", "ü", "%C3%BC", "%c3%bC", "%2B", "Z", "%5a", "x"}
	hits := 0
	for range 20_000 {
		var text strings.Builder
		text.WriteString("a")
		for _, at := range [][]int{{2, 3, 4}, {5, 6}, {7, 8, 9}, {10, 11, 12}, {8, 13}, {14, 15}, {2, 3, 4}} {
			if r.IntN(20) == 0 {
				text.WriteString(pieces[r.IntN(len(pieces))])
			}
			text.WriteString(pieces[at[r.IntN(len(at))]])
		}
		got, want := blank(text.String(), secret), echo.ReplaceAllLiteralString(text.String(), "…")
		if got != want {
			t.Fatalf("%q: %q, the pattern leaves %q", text.String(), got, want)
		}
		if got != text.String() {
			hits++
		}
	}
	if hits < 1000 {
		t.Errorf("%d texts held the secret: too few to say anything", hits)
	}
}

const benchKey = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"

func BenchmarkHide(b *testing.B) {
	text := strings.Repeat("Incorrect API key provided: *****wxyz. You can find your key at https://example.com/%2Fkeys. ", 3) + benchKey
	for b.Loop() {
		Hide(text, []string{benchKey, "Bearer " + benchKey})
	}
}
