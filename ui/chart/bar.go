package chart

import "charm.land/lipgloss/v2"

// Bar draws a share of 0 to 1 from left to right over w cells, in steps of half a
// cell. NaN is blank, unlike 0; whatever is beyond 1 fills the bar.
func Bar(w int, share float64, style lipgloss.Style, ascii bool) string {
	g := newGrid(w, 1)
	if !(share > 0) || !finite(share) {
		return g.lines()[0]
	}
	ink := g.ink(style)
	halves := int(min(share, 1)*float64(2*g.w) + 0.5)
	full, half := '█', '▌'
	if ascii {
		full, half = '#', '='
	}
	for x := range halves / 2 {
		g.put(x, 0, full, ink)
	}
	if halves%2 == 1 {
		g.put(halves/2, 0, half, ink)
	}
	return g.lines()[0]
}
