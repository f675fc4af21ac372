// Package theme decides what the screen looks like: which style a meaning has, and what
// may be written to the terminal at all.
package theme

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Palette is the style of each meaning. A meaning has one style everywhere, and no style
// is the only carrier of a meaning.
type Palette struct {
	Plain, Bold, Dim, Border, Focus, Accent lipgloss.Style
	P50, P95, P99                           lipgloss.Style
	Good, Note, Warn, Bad                   lipgloss.Style
	First, Second                           lipgloss.Style               // two curves of a panel that are not percentiles
	Mark, Limit                             lipgloss.Style               // moments of change; SLOs
	Other                                   lipgloss.Style               // another run beside ours
	Calm                                    lipgloss.Style               // a stream that waits, or has nothing to report
	Gaps                                    [GapSteps + 1]lipgloss.Style // how long a gap is, from short to a stall

	ASCII  bool // draw with ASCII characters only
	Shapes bool // curves that have no colour, or no braille, are told apart by their shape
	Light  bool // made for a light background

	profile colorprofile.Profile // what the terminal can do
}

// Wear makes the palette that of another theme, for the same terminal.
func (p *Palette) Wear(t Theme) { *p = *t.Palette(p.profile, p.ASCII) }

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

// New is the default palette for what the terminal can do.
func New(p colorprofile.Profile, ascii bool) *Palette { return Theme{}.Palette(p, ascii) }

// Palette is the theme's palette for what the terminal can do.
func (t Theme) Palette(p colorprofile.Profile, ascii bool) *Palette {
	c := t.colours()
	var out *Palette
	switch {
	case p <= colorprofile.ASCII || c.mono: // also NoTTY and unknown
		out = colours{}.palette()
		out.withoutColour()
	case p == colorprofile.ANSI:
		out = c.few.palette()
	default:
		out = c.many.palette()
	}
	out.ASCII, out.Light, out.profile = ascii, c.light, p
	out.Shapes = out.Shapes || ascii
	return out
}

func (c colours) palette() *Palette {
	p := &Palette{
		Bold: style("").Bold(true), Dim: style(c.dim), Border: style(c.border),
		Focus: style(c.accent), Accent: style(c.accent),
		P50: style(c.p50), P95: style(c.p95).Bold(true), P99: style(c.p99),
		Good: style(c.good), Note: style(c.note), Warn: style(c.warn).Bold(true), Bad: style(c.bad).Bold(true),
		First: style(c.first), Second: style(c.second).Bold(true),
		Mark: style(c.mark), Limit: style(c.slo), Calm: style(c.calm), Other: style(c.dim),
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
	t.Dim, t.Border, t.Mark, t.Other = faint, faint, faint, faint
	t.P95, t.Second = style(""), style("")
	t.P99 = style("").Bold(true)
	t.Shapes = true
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
