package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/ui/chart"
)

// help lists every key on w×h cells, in as many columns as are needed.
func (t *theme) help(all []command, w, h int) []string {
	list := hints(all)
	keysWidth := 0
	for _, k := range list {
		keysWidth = max(keysWidth, ansi.StringWidth(k.keys))
	}
	columns := 1
	for h > 0 && columns < 3 && (len(list)+columns-1)/columns > h {
		columns++
	}
	width := w / columns
	perColumn := (len(list) + columns - 1) / columns
	lines := make([]string, min(perColumn, max(h, 0)))
	for i, k := range list {
		if row := i % perColumn; row < len(lines) {
			lines[row] += pad(" "+t.accent.Render(pad(k.keys, keysWidth))+"  "+k.text, width)
		}
	}
	if columns == 1 && h >= len(lines)+5 {
		lines = append(lines, "", t.legend())
	}
	return chart.Fit(lines, w, h)
}

// legend tells what colours and signs mean everywhere.
func (t *theme) legend() string {
	return " " + strings.Join([]string{
		t.p50.Render("p50"), t.p95.Render("p95"), t.p99.Render("p99"), t.dim.Render("dim: too few samples, or not settled"),
		unknown + " unknown", "~ estimated", t.good.Render("● good"), t.warn.Render("▲ warning"), t.bad.Render("■ bad"),
	}, "  ")
}
