package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// fit chooses those figures that find room in w cells, and the blanks between
// them: two, or one where that saves a figure. A figure is there as a whole or
// not at all: half a number is a wrong number. The spare one goes first (0 means
// none), then the last ones.
func fit(all []figure, spare, w int) (kept []figure, blanks int) {
	for _, f := range all {
		if f.text != "" {
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

func widthOf(fs []figure, blanks int) int {
	w := blanks * max(0, len(fs)-1)
	for _, f := range fs {
		w += ansi.StringWidth(f.text)
	}
	return w
}

func join(fs []figure, blanks int) string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = f.style.Render(f.text)
	}
	return strings.Join(texts, strings.Repeat(" ", blanks))
}

// figures joins those that fit into room cells, with a blank at both ends, and
// tells whether these are all.
func (t *theme) figures(all []figure, spare, room int) (text string, used int, whole bool) {
	kept, blanks := fit(all, spare, room-2)
	if len(kept) == 0 {
		return "", 0, len(all) == 0
	}
	return " " + join(kept, blanks) + " ", widthOf(kept, blanks) + 2, len(kept) == len(all)
}

// shortened cuts the first figure, which is a text, after a word where it alone
// is wider than w cells.
func shortened(fs []figure, w int) []figure {
	if len(fs) == 0 || widthOf(fs[:1], 0) <= w {
		return fs
	}
	return []figure{{clipWords(fs[0].text, w), fs[0].style}}
}

// row joins styled parts, dropping what does not fit into w cells.
func (t *theme) row(w int, parts ...figure) string {
	kept, blanks := fit(shortened(parts, w), 0, w)
	return pad(join(kept, blanks), w)
}

// entry is a name, a number aligned to the right, and the first of the texts
// behind it that fits into w cells. What does not fit is left out; the alignment
// goes before a text does.
func (t *theme) entry(w int, name string, number figure, rests ...string) string {
	left := ansi.StringWidth(name) + ansi.StringWidth(number.text)
	for _, rest := range append(rests, "") {
		if room := w - left - ansi.StringWidth(rest); room > 0 {
			gap := min(room, max(1, labelWidth+numberWidth-left))
			return t.dim.Render(name) + strings.Repeat(" ", gap) + number.style.Render(number.text) + rest
		}
	}
	return t.dim.Render(clip(name, w))
}
