package text

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Figure is a short text with a style, such as "p95 840".
type Figure struct {
	Text  string
	Style lipgloss.Style
}

// fit chooses those figures that find room in w cells, and the blanks between
// them: two, or one where that saves a figure. A figure is there as a whole or
// not at all: half a number is a wrong number. The spare one goes first (0 means
// none), then the last ones.
func fit(all []Figure, spare, w int) (kept []Figure, blanks int) {
	for _, f := range all {
		if f.Text != "" {
			kept = append(kept, f)
		}
	}
	for len(kept) > 0 {
		for blanks = 2; blanks > 0; blanks-- {
			if widthOf(kept, blanks) <= w {
				return kept, blanks
			}
		}
		drop := len(kept) - 1
		if spare > 0 && spare < drop {
			drop = spare
		}
		spare = 0
		kept = append(kept[:drop], kept[drop+1:]...)
	}
	return nil, 0
}

func widthOf(fs []Figure, blanks int) int {
	w := blanks * max(0, len(fs)-1)
	for _, f := range fs {
		w += ansi.StringWidth(f.Text)
	}
	return w
}

func join(fs []Figure, blanks int) string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = f.Style.Render(f.Text)
	}
	return strings.Join(texts, strings.Repeat(" ", blanks))
}

// figures joins those that fit into room cells, with a blank at both ends, and
// reports whether these are all.
func figures(all []Figure, spare, room int) (text string, used int, whole bool) {
	kept, blanks := fit(all, spare, room-2)
	if len(kept) == 0 {
		return "", 0, len(all) == 0
	}
	return " " + join(kept, blanks) + " ", widthOf(kept, blanks) + 2, len(kept) == len(all)
}

// shortened cuts the first figure, which is a text, after a word where it alone
// is wider than w cells.
func shortened(fs []Figure, w int) []Figure {
	if len(fs) == 0 || widthOf(fs[:1], 0) <= w {
		return fs
	}
	return []Figure{{ClipWords(fs[0].Text, w), fs[0].Style}}
}

// Row joins styled parts, dropping what does not fit into w cells.
func Row(w int, parts ...Figure) string {
	kept, blanks := fit(shortened(parts, w), 0, w)
	return Pad(join(kept, blanks), w)
}

// Fig is a text with a style.
func Fig(text string, st lipgloss.Style) Figure { return Figure{text, st} }
