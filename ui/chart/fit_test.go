package chart

import "testing"

func TestFit(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"short", "ab", "ab  "},
		{"exact", "abcd", "abcd"},
		{"long", "abcdef", "abcd"},
		{"style of a short line", redOn + "ab" + off, redOn + "ab" + off + "  "},
		{"style of a cut line", "a" + redOn + "bcdef" + off, "a" + redOn + "bcd" + off},
		{"wide character on the edge", "abc世", "abc "},
		{"one cell, three bytes", "⣀⣀⣀⣀⣀", "⣀⣀⣀⣀"},
	} {
		t.Run(c.name, func(t *testing.T) { wantString(t, Fit([]string{c.in}, 4, 1)[0], c.want) })
	}
}

func TestFitHeight(t *testing.T) {
	wantPicture(t, Fit([]string{"a", "b", "c"}, 2, 2), "a ", "b ")
	wantPicture(t, Fit([]string{"a"}, 2, 3), "a ", "  ", "  ")
	wantSize(t, "Fit", Fit([]string{"a"}, -1, 2), -1, 2)
	wantSize(t, "Fit", Fit([]string{"a"}, 2, -1), 2, -1)
}

func BenchmarkFit(b *testing.B) {
	line := drawLines(100, 1, options{Scale: Scale{Max: 1}}, series{Style: red, Y: make([]float64, 240)})
	b.ReportAllocs()
	for b.Loop() {
		Fit(line, 120, 1)
	}
}
