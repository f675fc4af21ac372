package text

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/ui/theme"
)

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
		if got := Clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x9b\x1b]52;c;aGk=\x07", "\u202e\u2066", "那\xff", "\U000E0041"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		got := Clean(s)
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
		if short := CleanTo(s, w); ansi.StringWidth(short) > max(0, w) {
			t.Errorf("%q has more than %d cells", short, w)
		}
		if full := Pad(Clean(s), w); ansi.StringWidth(full) != max(0, w) {
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
		if got := strings.Join(Wrap(c.text, c.w), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func plainFigures(texts ...string) []Figure {
	var fs []Figure
	for _, s := range texts {
		fs = append(fs, Figure{Text: s})
	}
	return fs
}

func TestFiguresAreWholeOrNotThere(t *testing.T) {
	all := plainFigures("p50 220", "p95 464", "p99 602", "n 137") // 7+7+7+5 = 26 and 6 or 3 blanks
	for _, c := range []struct {
		w    int
		want string
	}{
		{32, "p50 220  p95 464  p99 602  n 137"},
		{31, "p50 220 p95 464 p99 602 n 137"},
		{29, "p50 220 p95 464 p99 602 n 137"},
		{28, "p50 220  p95 464  n 137"},
		{22, "p50 220 p95 464 n 137"},
		{20, "p50 220  p95 464"},
		{10, "p50 220"}, {6, ""}, {0, ""},
	} {
		kept, blanks := fit(all, 2, c.w)
		if got := join(kept, blanks); got != c.want {
			t.Errorf("%d cells hold %q, want %q", c.w, got, c.want)
		}
	}
}

// 200 columns of a second: three labels beyond two minutes, all different.
func TestTheTimeAxisShowsHalfMinutes(t *testing.T) {
	axis := string(timeAxis(198, 198, time.Second))
	for _, want := range []string{"─3 min─", "─2.5 min─", "─2 min─", "─90 s─", "─60 s─", "─30 s─"} {
		if strings.Count(axis, want) != 1 {
			t.Errorf("%q is not once in %q", want, axis)
		}
	}
}

// In 50 columns 30 s is column 17 of the line and its label stands in 16 to 19. A foot of
// 22 cells, with its blanks, begins in column 23, one of 26 in 19.
func TestATimeUnderTheFootIsOmitted(t *testing.T) {
	for foot, want := range map[string]string{
		"▲ oldest waiting 8.3 s":     "─30 s─── ▲ oldest waiting 8.3 s ─╯",
		"▲ oldest waiting 12.50 s  ": "─┴─ ▲ oldest waiting 12.50 s   ─╯",
	} {
		hd := Heading{Name: "x", Column: time.Second, Foot: []Figure{{Text: foot}}}
		if line := ansi.Strip(bottom(hd, 50, lipgloss.NewStyle())); !strings.HasSuffix(line, want) {
			t.Errorf("got %q, want %q at its end", line, want)
		}
	}
}

// device is a row of the table below.
type device struct{ number, sm, power, name string }

// Columns go as a whole, the last first; the name takes the rest.
func TestATableLosesWholeColumns(t *testing.T) {
	p := theme.New(colorprofile.ASCII, false)
	column := func(group, name string, width int, cell func(*device) string) Column[device] {
		return Column[device]{Group: group, Name: name, Width: width, Cell: func(d *device) Figure { return Figure{Text: cell(d)} }}
	}
	table := Table[device]{RestName: "device", Rest: func(d *device) string { return d.name }, Columns: []Column[device]{
		column("", "#", 3, func(d *device) string { return d.number }),
		column("", "SM", 6, func(d *device) string { return d.sm }),
		column("", "power W", 9, func(d *device) string { return d.power }),
	}}
	rows := []device{{"0", "90 %", "612 / 700", "H100 80GB"}, {"15", "74 %", "—", "H100 80GB"}}
	for w, want := range map[int]string{
		40: "   #     SM   power W  device|   0   90 % 612 / 700  H100 80GB|  15   74 %         —  H100 80GB",
		20: "   #     SM  device|   0   90 %  H100 …|  15   74 %  H100 …",
		8:  "   #|   0|  15",
	} {
		head, lines := table.Lines(p, rows, w)
		if got := ansi.Strip(strings.Join(append(head, lines...), "|")); got != want {
			t.Errorf("%d cells:\ngot  %s\nwant %s", w, got, want)
		}
	}
	table.Rest, table.Columns[1].Group, table.Columns[2].Group, table.Shift = nil, "two", "two", 0
	head, _ := table.Lines(p, rows, 40)
	if got := ansi.Strip(strings.Join(head, "|")); got != "             two      |   #      SM   power W" {
		t.Errorf("groups: %q", got)
	}
	table.Shift = 1
	if _, lines := table.Lines(p, rows, 40); ansi.Strip(lines[0]) != "   0  612 / 700" {
		t.Errorf("shifted: %q", lines[0])
	}
}
