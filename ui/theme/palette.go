// Package theme decides what the screen looks like: which style a meaning has, and what
// may be written to the terminal at all.
package theme

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Palette is the style of each meaning. A meaning has one style everywhere, and no style
// is the only carrier of a meaning.
//
// Colours are of the 256-colour palette: its upper 240 are the same on every
// terminal, and naming one costs half the bytes of a 24-bit colour, which counts
// over SSH. Nobody has to be asked about the background: what is written as text
// has a contrast of 4.5 or more on black and on white, which takes a luminance of
// 0.175 to 0.183. No orange, yellow or clear red has one; they reach 3 and are
// bold. Blue, orange and purple stay apart for the common kinds of colour
// blindness; good, warn and bad always carry a sign.
type Palette struct {
	Plain, Bold, Dim, Border, Focus, Accent lipgloss.Style
	P50, P95, P99                           lipgloss.Style
	Good, Note, Warn, Bad                   lipgloss.Style
	First, Second                           lipgloss.Style               // two curves of a panel that are not percentiles
	Mark, Limit                             lipgloss.Style               // moments of change; SLOs
	Calm                                    lipgloss.Style               // a stream that waits, or has nothing to report
	Gaps                                    [GapSteps + 1]lipgloss.Style // how long a gap is, from short to a stall
	ASCII                                   bool                         // draw with ASCII characters only
}

// GapSteps is how many steps there are in the length of a gap. Where they lie, the panels
// decide.
const GapSteps = 4

// Signs go with the colours of Good, Note, Warn and Bad, so that they read without
// colour. They mean the same wherever they stand.
const (
	SignGood = "●"
	SignNote = "◆"
	SignWarn = "▲"
	SignBad  = "■"
)

// colours are names of colours; the empty string is the terminal's own.
type colours struct {
	grey, frame, blue, orange, purple, green, yellow, red string
	gaps                                                  [GapSteps + 1]string
}

var (
	colours256 = colours{
		grey: "243", frame: "243", blue: "63", orange: "130", purple: "163",
		green: "29", yellow: "136", red: "160",
		// From blue over pink to orange: in this order for every kind of colour blindness. Gaps
		// that nobody notices have one colour; it costs less, and calm is what is calm.
		gaps: [...]string{"67", "67", "67", "132", "130"},
	}
	// On 16 colours the automatic mapping would turn orange, purple and red into
	// one bright red, so they are named here.
	colours16 = colours{
		grey: "8", frame: "8", blue: "4", orange: "3", purple: "5",
		green: "2", yellow: "3", red: "1", gaps: [...]string{"4", "4", "4", "5", "3"},
	}
)

// New is the palette for what the terminal can do.
func New(p colorprofile.Profile, ascii bool) *Palette {
	var t *Palette
	switch p {
	case colorprofile.ASCII, colorprofile.NoTTY, colorprofile.Unknown:
		t = colours{}.palette()
		t.withoutColour()
	case colorprofile.ANSI:
		t = colours16.palette()
	default:
		t = colours256.palette()
	}
	t.ASCII = ascii
	return t
}

func (c colours) palette() *Palette {
	p := &Palette{
		Bold: style("").Bold(true), Dim: style(c.grey), Border: style(c.frame),
		Focus: style(c.blue), Accent: style(c.blue),
		P50: style(c.blue), P95: style(c.orange).Bold(true), P99: style(c.purple),
		Good: style(c.green), Note: style(c.blue), Warn: style(c.yellow).Bold(true), Bad: style(c.red).Bold(true),
		First: style(c.blue), Second: style(c.orange).Bold(true),
		Mark: style(c.frame), Limit: style(c.red),
		Calm: style(c.gaps[0]),
	}
	for i := range c.gaps {
		p.Gaps[i] = style(c.gaps[i]).Bold(i == GapSteps)
	}
	return p
}

// withoutColour lets faint and bold carry the weight. p95 has no attribute: faint is
// what too few samples look like, and its line always lies between those of p50 and p99.
func (t *Palette) withoutColour() {
	faint := style("").Faint(true)
	t.Dim, t.Border, t.Mark = faint, faint, faint
	t.P95, t.Second = style(""), style("")
	t.P99 = style("").Bold(true)
}

// Unless is the plain style, dim where a figure is in doubt.
func (t *Palette) Unless(doubtful bool) lipgloss.Style {
	if doubtful {
		return t.Dim
	}
	return t.Plain
}

func style(color string) lipgloss.Style {
	s := lipgloss.NewStyle()
	if color == "" {
		return s
	}
	return s.Foreground(lipgloss.Color(color))
}
