package ui

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func newTestTheme() *theme { return newTheme(colorprofile.ANSI256, false) }

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                        "plain",
		" a\r\n\tb  ":                  "a b",
		"a\x1b[2Jb\x1b]0;x\x07c":       "a[2Jb]0;xc",
		"x\u202eabc\u2066y":            "xabcy",
		"\x9b31mred\u0085 end":         "31mred end",
		"broken \xff\xfe bytes":        "broken bytes",
		"那ю":                           "那ю",
		"z\u0300\u0301\u200d":          "z",
		"\U0001F600 up":                "? up",
		"Llama-3.1 (8B) µs → 5 °C ≤ 1": "Llama-3.1 (8B) µs → 5 °C ≤ 1",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x9b\x1b]52;c;aGk=\x07", "\u202e\u2066", "那\xff", "\U000E0041"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		got := clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.M, r) || r == 0x2028 || r == 0x2029 {
				t.Errorf("%q of %q is left", r, s)
			}
		}
		if strings.TrimSpace(got) != got {
			t.Errorf("%q has blanks at its ends", got)
		}
		w = min(max(w, -1), 500)
		if short := cleanTo(s, w); ansi.StringWidth(short) > max(0, w) {
			t.Errorf("%q has more than %d cells", short, w)
		}
		if full := pad(clean(s), w); ansi.StringWidth(full) != max(0, w) {
			t.Errorf("%q has not %d cells", full, w)
		}
	})
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"start it with --metrics", 16, "start it with|--metrics"},
		{"start it with --metrics", 4, "star|t it|with|--me|tric|s"},
		{"took 1 210 ms", 8, "took|1 210 ms"}, {"96 512 of 7", 6, "96 512|of 7"}, {"one", 3, "one"}, {"", 5, ""}, {"any", 0, ""},
	} {
		if got := strings.Join(wrap(c.text, c.w), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	type row struct{ got, want string }
	for _, c := range []row{
		{sig3(0), "0"}, {sig3(0.004), "<0.01"}, {sig3(0.85), "0.85"}, {sig3(9.994), "9.99"}, {sig3(9.996), "10.0"},
		{sig3(14.06), "14.1"}, {sig3(99.96), "100"}, {sig3(212.4), "212"}, {sig3(999.6), "1 000"}, {sig3(1210), "1 210"},
		{group(-1234567), "-1 234 567"}, {group(-0.2), "0"}, {group(999), "999"}, {group(1e6), "1 000 000"},
		{sig2(4.44), "4.4"}, {sig2(9.96), "10"}, {sig2(1142.2), "1 142"}, {sig2(0), "0"},
		{short(0), "0"}, {short(2.5), "2.5"}, {short(950), "950"}, {short(1200), "1.2k"}, {short(34000), "34k"}, {short(1.5e6), "1.5M"},
		{milliseconds.label(0.25), "0.25"}, {milliseconds.label(0.01), "0.01"}, {milliseconds.label(0.30000000000000004), "0.3"}, {milliseconds.label(2), "2"},
		{milliseconds.label(500), "500"}, {milliseconds.label(2000), "2 000"}, {milliseconds.label(0), "0"}, {seconds.label(20000), "20"}, {microseconds.label(0.5), "500"},
		{percent(known01(0.634)), "63 %"}, {percent(known01(85)), "—"}, {percent(known01(-1)), "—"},
		{unitFor(0.2).of(0.2), "200"}, {unitFor(212).name, "ms"}, {unitFor(12_000).of(12_340), "12.3"},
		{clock(4*60e9 + 12e9), "00:04:12"}, {span(850e6), "850 ms"}, {span(8300e6), "8.3 s"}, {span(125e9), "2.1 min"}, {span(90e9), "90 s"}, {span(120e9), "2 min"}, {span(150e9), "2.5 min"}, {span(180e9), "3 min"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
