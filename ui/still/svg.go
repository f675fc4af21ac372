// Package still keeps a picture of the screen: the text of a view with its
// styles, as an SVG that looks the same everywhere.
package still

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The size of a cell and of its surroundings, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 17
	fontSize   = 14
	margin     = 12
)

// terminal has the colours of a terminal, as CSS.
type terminal struct{ paper, ink string }

var dark, bright = terminal{"#11151a", "#c9d1d9"}, terminal{"#ffffff", "#24292f"}

// SVG draws a view, as a terminal with a dark or a light background shows it. Text is stretched to its exact width, and what charts are made
// of is drawn as shapes, so that columns line up in any font.
func SVG(view string, light bool) string {
	on := dark
	if light {
		on = bright
	}
	lines := uv.NewStyledString(view).Lines(ansi.GraphemeWidth)
	columns := 0
	for _, line := range lines {
		columns = max(columns, len(line))
	}
	width, height := float64(columns)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", on.paper)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" xml:space="preserve">`+"\n", fontSize)
	for y, line := range lines {
		for _, r := range runsOf(line) {
			r.write(&b, y, on.ink)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// run is a stretch of cells of one line that share a style.
type run struct {
	from  int
	cells []string // contents; a wide one is followed by an empty one
	style uv.Style
}

// runsOf cuts a line where its style changes, and at blanks, which need no ink.
func runsOf(line uv.Line) []*run {
	var runs []*run
	var open *run
	for x, cell := range line {
		if strings.TrimSpace(cell.Content) == "" {
			open = nil
			continue
		}
		if open == nil || !open.style.Equal(&cell.Style) {
			open = &run{from: x, style: cell.Style}
			runs = append(runs, open)
		}
		open.cells = append(open.cells, cell.Content)
	}
	return runs
}

// write draws the run's characters: shapes one by one, and what is text together. The
// screen has no backgrounds.
func (r *run) write(b *strings.Builder, line int, ink string) {
	y := float64(margin + line*cellHeight)
	fill := ink
	if r.style.Fg != nil {
		fill = css(r.style.Fg)
	}
	fmt.Fprintf(b, "<g%s>", r.attributes())
	text := run{style: r.style}
	for i, content := range r.cells {
		var shapes strings.Builder
		runes := []rune(content)
		if len(runes) == 1 && shape(&shapes, runes[0], column(r.from+i), y, fill) {
			text.flush(b, y, fill)
			b.WriteString(shapes.String())
			continue
		}
		if len(text.cells) == 0 {
			text.from = r.from + i
		}
		text.cells = append(text.cells, content)
	}
	text.flush(b, y, fill)
	b.WriteString("</g>\n")
}

// flush writes the text that was gathered, stretched to its exact width.
func (r *run) flush(b *strings.Builder, y float64, fill string) {
	content := strings.Join(r.cells, "")
	if strings.TrimSpace(content) != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s">%s</text>`,
			column(r.from), y+cellHeight-4, float64(len(r.cells))*cellWidth, fill, html.EscapeString(content))
	}
	r.cells = nil
}

func column(x int) float64 { return margin + float64(x)*cellWidth }

func (r *run) attributes() string {
	a := ""
	if r.style.Attrs&uv.AttrBold != 0 {
		a += ` font-weight="bold"`
	}
	if r.style.Attrs&uv.AttrFaint != 0 {
		a += ` opacity="0.6"`
	}
	return a
}

func css(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
