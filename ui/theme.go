package ui

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// theme is the one door to looks. A meaning has one style everywhere, and no
// style is the only carrier of a meaning.
//
// Colours are of the 256-colour palette: its upper 240 are the same on every
// terminal, and naming one costs half the bytes of a 24-bit colour, which counts
// over SSH. Nobody has to be asked about the background: what is written as text
// has a contrast of 4.5 or more on black and on white, which takes a luminance of
// 0.175 to 0.183. No orange, yellow or clear red has one; they reach 3 and are
// bold. Blue, orange and purple stay apart for the common kinds of colour
// blindness; good, warn and bad always carry a sign.
type theme struct {
	plain, bold, dim, border, focus, accent lipgloss.Style
	p50, p95, p99                           lipgloss.Style
	good, note, warn, bad                   lipgloss.Style
	first, second                           lipgloss.Style   // two curves of a panel that are no percentiles
	mark, limit                             lipgloss.Style   // moments of change; service levels
	shades                                  []lipgloss.Style // few and many; the characters grade further
	calm                                    lipgloss.Style   // a stream that does what it always does
	ascii                                   bool
}

// palette names the colours of a theme; the empty string is the terminal's own.
type palette struct {
	grey, frame, blue, orange, purple, green, yellow, red string
	shades                                                []string
}

var (
	palette256 = palette{
		grey: "243", frame: "243", blue: "63", orange: "130", purple: "163",
		green: "29", yellow: "136", red: "160",
		shades: []string{"67", "63"},
	}
	// On 16 colours the automatic mapping would turn orange, purple and red into
	// one bright red, so they are named here.
	palette16 = palette{
		grey: "8", frame: "8", blue: "4", orange: "3", purple: "5",
		green: "2", yellow: "3", red: "1",
		shades: []string{"4", "6"},
	}
	paletteNone = palette{shades: []string{"", ""}}
)

// newTheme chooses the palette for what the terminal can do.
func newTheme(p colorprofile.Profile, ascii bool) *theme {
	pal := palette256
	switch p {
	case colorprofile.ANSI:
		pal = palette16
	case colorprofile.ASCII, colorprofile.NoTTY, colorprofile.Unknown:
		pal = paletteNone
	}
	t := pal.theme(pal.blue == "")
	t.ascii = ascii
	return t
}

// theme builds the styles. Without colour, faint and bold carry the weight.
func (p palette) theme(mono bool) *theme {
	t := &theme{
		bold: style("").Bold(true), dim: style(p.grey), border: style(p.frame),
		focus: style(p.blue), accent: style(p.blue),
		p50: style(p.blue), p95: style(p.orange).Bold(true), p99: style(p.purple),
		good: style(p.green), note: style(p.blue), warn: style(p.yellow).Bold(true), bad: style(p.red).Bold(true),
		first: style(p.blue), second: style(p.orange).Bold(true),
		mark: style(p.frame), limit: style(p.red),
	}
	if mono {
		// p95 has no attribute: faint is what too few samples look like, and its
		// line always lies between those of p50 and p99.
		faint := style("").Faint(true)
		t.dim, t.border, t.mark = faint, faint, faint
		t.p95, t.second = style(""), style("")
		t.p99 = style("").Bold(true)
	}
	for _, c := range p.shades {
		t.shades = append(t.shades, style(c))
	}
	t.calm = t.shades[0]
	return t
}

func style(color string) lipgloss.Style {
	s := lipgloss.NewStyle()
	if color == "" {
		return s
	}
	return s.Foreground(lipgloss.Color(color))
}
