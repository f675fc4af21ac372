package theme

import "slices"

// Theme is a set of colours. The zero value is the default.
type Theme struct {
	Name string // as it was given: one of Names, or a file
	own  *variants
}

// colours are the colours of meanings, as lipgloss takes them; the empty string is the
// terminal's own.
//
// Those of the default are of the 256-colour palette: its upper 240 are the same on every
// terminal, and naming one costs half the bytes of a 24-bit colour, which counts over
// SSH. Nobody has to be asked about the background: what is written as text has a
// contrast of 4.5 or more on black and on white, which takes a luminance of 0.175 to
// 0.183. No orange, yellow or clear red has one; they reach 3 and are bold.
type colours struct {
	dim, border, accent, mark, slo string
	p50, p95, p99, first, second   string
	good, note, warn, bad          string
	calm                           string
	gaps                           [GapSteps + 1]string
}

// variants are a theme's colours for terminals with many and with few of them.
type variants struct {
	many, few   colours
	mono, light bool
}

// hues makes the colours of a theme from a few. Blue, violet and orange stay apart for the
// common kinds of colour blindness, and have an order; good, warn and bad always carry a
// sign. Gaps that nobody notices have one colour: what is calm looks calm, and a change
// of colour costs bytes.
func hues(grey, blue, orange, purple, green, yellow, red, calm, violet string) colours {
	return colours{
		dim: grey, border: grey, accent: blue, mark: grey, slo: red,
		p50: blue, p95: orange, p99: purple, first: blue, second: orange,
		good: green, note: blue, warn: yellow, bad: red,
		calm: calm, gaps: [...]string{calm, calm, calm, violet, orange},
	}
}

// builtIn are the themes with a name. On 16 colours the automatic mapping would turn
// orange, purple and red into one bright red, so these are named too.
var builtIn = map[string]variants{
	"default": {
		many: hues("243", "63", "130", "163", "29", "136", "160", "67", "128"),
		few:  hues("8", "4", "3", "5", "2", "3", "1", "4", "5"),
	},
	"high-contrast": { // at least 7 on black
		many: hues("250", "75", "214", "225", "120", "226", "203", "75", "225"),
		few:  hues("7", "14", "11", "13", "10", "11", "9", "14", "13"),
	},
	"light": { // at least 4.5 on white
		many:  hues("240", "26", "130", "89", "22", "94", "124", "26", "126"),
		few:   hues("8", "4", "3", "5", "2", "3", "1", "4", "5"),
		light: true,
	},
	"mono": {mono: true},
}

// Names are the themes that need no file.
var Names = []string{"default", "high-contrast", "light", "mono"}

func (t Theme) colours() variants {
	switch {
	case t.own != nil:
		return *t.own
	case slices.Contains(Names, t.Name):
		return builtIn[t.Name]
	}
	return builtIn[Names[0]]
}

// String is the name of the theme.
func (t Theme) String() string {
	if t.Name == "" {
		return Names[0]
	}
	return t.Name
}
