package ui

import (
	"charm.land/lipgloss/v2"

	"sonde/probe/measure"
)

// panel turns the picture and a size into text. Panels hold no data, only what
// keeps a drawing calm from one time to the next, such as a scale.
type panel interface {
	// heading is the upper border. It is cheap and made anew every time.
	heading(p *picture) heading
	// key is a comparable value of all that the body shows besides its size. As
	// long as it stays the same the body is not drawn again.
	key(p *picture, zoomed bool) any
	// body draws w×h cells.
	body(p *picture, w, h int) []string
	// zoomed draws w×h cells with everything there is to say.
	zoomed(p *picture, w, h int) []string
	// explain says what the panel shows and where it comes from.
	explain(p *picture) explanation
}

// view is a panel on the screen with its last drawing.
type view struct {
	panel
	drawn drawn
	body  []string // the cached drawing of the body
	lines []string // the cached drawing with border
}

// looks is how a panel is to be drawn.
type looks struct {
	zoomed  bool
	focused bool
	bare    bool // no figures in the border: the strip has them
	turn    bool // new data may be shown now
}

// drawn is what a drawing was made from.
type drawn struct {
	looks
	w, h    int
	have    bool // there was a Frame
	key     any
	heading string
}

// render draws what changed. New data alone has to wait for the panel's turn.
func (v *view) render(t *theme, p *picture, r rect, how looks) {
	now := drawn{looks: how, w: r.w, h: r.h, have: p.have}
	if !how.turn && now.sameLooks(v.drawn) {
		return
	}
	hd := v.heading(p)
	if how.bare {
		hd.figures = nil
	}
	now.key, now.heading = v.key(p, how.zoomed), hd.String()
	if now.turn = v.drawn.turn; now == v.drawn {
		return
	}
	if !v.drawn.sameBody(now) {
		v.body = v.drawBody(p, max(0, r.w-2), max(0, r.h-2), how.zoomed)
	}
	v.lines = t.box(hd, v.body, r.w, r.h, how.focused)
	v.drawn = now
}

func (v *view) drawBody(p *picture, w, h int, zoomed bool) []string {
	if zoomed {
		return v.zoomed(p, w, h)
	}
	return v.panel.body(p, w, h)
}

// sameLooks compares all but the data.
func (d drawn) sameLooks(e drawn) bool {
	d.turn, d.key, d.heading = e.turn, e.key, e.heading
	return d == e
}

func (d drawn) sameBody(e drawn) bool {
	return d.key == e.key && d.w == e.w && d.h == e.h && d.zoomed == e.zoomed
}

// String is the heading as styled text, for comparison.
func (h heading) String() string {
	s := h.name
	for _, f := range append(h.figures[:len(h.figures):len(h.figures)], h.foot...) {
		s += "\x00" + f.style.Render(f.text)
	}
	return s
}

// newPanels makes all panels, by panelID.
func newPanels(t *theme) [panelCount]*view {
	of := [panelCount]panel{
		panelLoad:    &loadPanel{theme: t},
		panelTTFT:    newTTFTPanel(t),
		panelTPOT:    newTPOTPanel(t),
		panelGap:     newGapPanel(t),
		panelTokens:  &tokensPanel{theme: t},
		panelGPU:     &gpuPanel{theme: t},
		panelKV:      &kvPanel{theme: t},
		panelStreams: &streamsPanel{theme: t},
	}
	var views [panelCount]*view
	for id, p := range of {
		views[id] = &view{panel: p}
	}
	return views
}

// percentile is a figure such as "p99 1 210", dim when too few samples stand
// behind it.
func (t *theme) percentile(name string, s measure.Summary, v float64, u scaleUnit, st lipgloss.Style) figure {
	if s.N == 0 {
		return figure{statisticLabel(name) + " " + unknown, t.dim}
	}
	if weak(s, name) {
		st = t.dim
	}
	return figure{statisticLabel(name) + " " + right(u.of(v), 4), st}
}

// statisticLabel is how people write the name of a statistic: p99.9.
func statisticLabel(name string) string {
	for _, q := range statistics {
		if q.name == name {
			return q.label
		}
	}
	return name
}

// weak tells whether a percentile has too few samples to be taken for a fact.
func weak(s measure.Summary, name string) bool {
	for _, w := range s.Weak() {
		if w == name {
			return true
		}
	}
	return false
}
