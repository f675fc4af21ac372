package plain

import (
	"strings"
	"testing"
	"unicode"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b]52;c;aGk=\x07b\r\n\x1b[31mc\u009b2J\u202ed": "a]52;c;aGk=b [31mc2Jd",
		"  two \t words\u2028three\u2029 ":                 "two words three",
		"bad\xffbytes\u0085here":                           "badbyteshere",
		"漢字é":                                              "漢字é",
		strings.Repeat("x", 50):                            strings.Repeat("x", 30) + "…",
		"":                                                 "",
	} {
		if got := Line(in, 30); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b[2J\u202e\n b")
	f.Fuzz(func(t *testing.T, in string) {
		got := Line(in, 40)
		if len([]rune(got)) > 2*40+1 || strings.ContainsFunc(got, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Errorf("%q became %q", in, got)
		}
	})
}

func TestFirstFew(t *testing.T) {
	for most, want := range map[int]string{3: "a, b, c", 2: "a, b and 1 more"} {
		if got := FirstFew([]string{"a", "b", "c"}, most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}
