package page

import (
	"strings"
	"testing"
)

var sample = Section{
	Title:   "loads",
	Columns: []Column{{Title: "load", Width: 8, Left: true}, {Title: "p95", Width: 6}, {Title: "RPM", Width: 6, Rank: 2}, {Title: "n", Width: 6, Rank: 1}},
	Rows:    [][]string{{"a_b", "50.0", "960", "7"}, {"c|d\x1b", "60.0?", "1920", "8"}},
	Lines:   []string{"? weak"},
	Items:   []Item{{Mark: "▲ ", Text: "slow", Sub: []Item{{Mark: "  → ", Text: "do <this>"}}}},
}

// In 20 cells the column with the highest rank is omitted; figures stand under each other
// with or without the mark.
func TestText(t *testing.T) {
	w := Text{Width: 20}
	w.Section(sample)
	w.Section(Section{Title: "empty"})
	want := "\nload      p95     n\na_b      50.0     7\nc|d\\x1b  60.0?    8\n? weak\n▲ slow\n  → do <this>\n"
	if got := w.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w = Text{Width: 80, Color: true}
	w.Section(sample)
	if got := w.String(); !strings.Contains(got, "\x1b[2m 60.0?\x1b[0m") || !strings.Contains(got, "\x1b[1mload") || !strings.Contains(got, "1920") {
		t.Errorf("%q", got)
	}
}

func TestMarkdown(t *testing.T) {
	var m Markdown
	m.Section(sample)
	m.Section(Section{Title: "empty"})
	want := "\n### Loads\n\n| load | p95 | RPM | n |\n|---|--:|--:|--:|\n| a\\_b | 50.0 | 960 | 7 |\n| c\\|d\\\\x1b | 60.0? | 1920 | 8 |\n\n? weak\n\n- slow\n  - → do &lt;this>\n"
	if got := m.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
