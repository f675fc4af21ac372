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

// The size of a cell and the colours of a dark terminal, in pixels and CSS.
const (
	cellWidth  = 8.4
	cellHeight = 17
	fontSize   = 14
	margin     = 12
	paper      = "#11151a"
	ink        = "#c9d1d9"
)

// SVG draws a view. Every run of cells with one style is one text element that
// is stretched to its exact width, so that columns line up in any font.
func SVG(view string) string {
	lines := uv.NewStyledString(view).Lines(ansi.GraphemeWidth)
	columns := 0
	for _, line := range lines {
		columns = max(columns, len(line))
	}
	width, height := float64(columns)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n", fontSize, ink)
	for y, line := range lines {
		for _, r := range runsOf(line) {
			r.write(&b, y)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// run is a stretch of cells of one line that share a style.
type run struct {
	from, cells int
	text        strings.Builder
	style       uv.Style
}

// runsOf cuts a line where its style changes, and at blanks, which need no ink.
func runsOf(line uv.Line) []*run {
	var runs []*run
	var open *run
	for x, cell := range line {
		if strings.TrimSpace(cell.Content) == "" && cell.Style.Bg == nil {
			open = nil
			continue
		}
		if open == nil || !open.style.Equal(&cell.Style) {
			open = &run{from: x, style: cell.Style}
			runs = append(runs, open)
		}
		open.text.WriteString(cell.Content)
		open.cells = x + max(1, cell.Width) - open.from
	}
	return runs
}

func (r *run) write(b *strings.Builder, y int) {
	x, width := margin+float64(r.from)*cellWidth, float64(r.cells)*cellWidth
	fg, bg := r.style.Fg, r.style.Bg
	if r.style.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
		if bg == nil {
			bg = color.Gray{Y: 0xc9}
		}
		if fg == nil {
			fg = color.Gray{Y: 0x11}
		}
	}
	top := margin + y*cellHeight
	if bg != nil {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, x, top, width, cellHeight, css(bg))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"`, x, top+cellHeight-4, width)
	if fg != nil {
		fmt.Fprintf(b, ` fill="%s"`, css(fg))
	}
	if r.style.Attrs&uv.AttrBold != 0 {
		b.WriteString(` font-weight="bold"`)
	}
	if r.style.Attrs&uv.AttrFaint != 0 {
		b.WriteString(` opacity="0.6"`)
	}
	fmt.Fprintf(b, ">%s</text>\n", html.EscapeString(r.text.String()))
}

func css(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
