package chart

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestFit(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"short", "ab", "ab  "},
		{"exact", "abcd", "abcd"},
		{"long", "abcdef", "abcd"},
		{"style of a short line", redOn + "ab" + off, redOn + "ab" + off + "  "},
		{"style of a cut line", "a" + redOn + "bcdef" + off, "a" + redOn + "bcd" + off},
		{"style left open", redOn + "ab", redOn + "ab" + off + "  "},
		{"wide character on the edge", "abc世", "abc "},
		{"one cell, three bytes", "⣀⣀⣀⣀⣀", "⣀⣀⣀⣀"},
		{"control characters", "a\tb\r\nc", "abc "},
		{"escape cut short", "ab\x1b[3", "ab\x1b[3" + off + "  "}, // the reset takes its place
		{"sign that joins the next one", "a\u0600", "a?  "},
		{"bytes that are no text", "a\xffb", "a\ufffdb "},
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

func FuzzFit(f *testing.F) {
	f.Add("plain", 3)
	f.Add(redOn+"世界"+off+"é\u0301🇩🇪", 5)
	f.Add("\x1b]8;;http://x\x07link\x1b]8;;\x07", 2)
	f.Add("\x1b[31", 9)
	f.Add("\u0600\u200d\x9b1m", 4)
	f.Fuzz(func(t *testing.T, text string, w int) {
		w = w%300 - 3
		lines := Fit([]string{text}, w, 1)
		if n := ansi.StringWidth(lines[0]); n != max(w, 0) {
			t.Fatalf("%q to %d cells is %d wide: %q", text, w, n, lines[0])
		}
	})
}

func BenchmarkFit(b *testing.B) {
	line := Lines(100, 1, LineOptions{Frame: Frame{Scale: Scale{Max: 1}}}, Series{Style: red, Y: make([]float64, 240)})
	b.ReportAllocs()
	for b.Loop() {
		Fit(line, 120, 1)
	}
}
