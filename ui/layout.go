package ui

import "sonde/ui/panel"

// The screen at 120×40 and whatever is as large (full):
//
//	┌ title ─────────────────────────────────────────────┐ 1
//	│ load 30 │ TTFT                │ TPOT               │ 30 %, 10 or more
//	│ gap before each token         │ tokens/s           │ 31 %
//	│ GPU            │ KV cache     │ streams            │ the rest
//	│ verdict                                            │ 2
//	└ keys ──────────────────────────────────────────────┘ 1
//
// At 80×24 and between (compact): the numbers move out of the borders into a
// strip, so that two rows of small charts keep their width:
//
//	┌ title ─────────────────────────────────────────────┐ 1
//	│ strip: load, TTFT, TPOT, gap, rates, engine, GPU   │ 6
//	│ TTFT         │ TPOT             │ gap              │ half
//	│ tokens/s  │ KV cache  │ GPU      │ streams         │ half
//	│ verdict                                            │ 1, 2 from 24 rows on
//	└ keys ──────────────────────────────────────────────┘ 1
//
// What is dropped, in this order: below 100×28 the borders' numbers (they go to
// the strip); below 76 columns the GPU chart; below 20 rows the second row of
// charts; below 60×16 everything. The strip keeps every number of a panel that
// was dropped, and every panel can be reached by zoom.

// Sizes at which the picture changes.
const (
	fullWidth, fullHeight = 100, 28
	floorWidth            = 60
	floorHeight           = 16
	fourChartsWidth       = 76
	twoRowsHeight         = 20
	twoVerdictHeight      = 24
	loadWidth             = 30
)

// rect is a place on the screen, in cells.
type rect struct{ x, y, w, h int }

// place is a panel and where it lies.
type place struct {
	id panel.ID
	rect
}

// layout is the whole screen. Bands lie one below the other, the places of a band
// side by side; together with the lines they cover every cell exactly once.
type layout struct {
	w, h     int
	tooSmall bool
	strip    rect // the load panel and all numbers of the compact picture; h == 0: none
	bands    [][]place
	body     rect // everything between title and verdict
	verdict  rect
}

// layoutFor computes the screen; zoomed, one panel fills the body.
func layoutFor(w, h int, zoomed bool, focus panel.ID) layout {
	l := layout{w: max(0, w), h: max(0, h)}
	if w < floorWidth || h < floorHeight {
		l.tooSmall = true
		return l
	}
	verdict := 1
	if h >= twoVerdictHeight {
		verdict = 2
	}
	l.body = rect{0, 1, w, h - 2 - verdict}
	l.verdict = rect{0, h - 1 - verdict, w, verdict}
	switch {
	case zoomed:
		l.bands = [][]place{{{focus, l.body}}}
	case w >= fullWidth && h >= fullHeight:
		l.full()
	default:
		l.compact()
	}
	return l
}

func (l *layout) full() {
	b := l.body
	upper := max(10, b.h*30/100)
	middle := max(7, b.h*31/100)
	load := loadWidth
	if b.w >= 160 {
		load = 36
	}
	// Widths follow the drawing: TTFT a little wider than TPOT, and the GPU panel holds the
	// figures of several devices. Panels end at two edges, so that what is drawn at one
	// moment stands in one column.
	ttft := (b.w - load) * 54 / 100
	gap := load + ttft
	gpus := gap * 59 / 100
	kv := gap - gpus
	l.bands = [][]place{
		band(b, b.y, upper, []panel.ID{panel.Load, panel.TTFT, panel.TPOT}, []int{load, ttft}),
		band(b, b.y+upper, middle, []panel.ID{panel.Gap, panel.Tokens}, []int{gap}),
		band(b, b.y+upper+middle, b.h-upper-middle, []panel.ID{panel.GPU, panel.KV, panel.Streams}, []int{gpus, kv}),
	}
}

func (l *layout) compact() {
	b := l.body
	l.strip = rect{b.x, b.y, b.w, panel.StripHeight}
	top, rest := b.y+l.strip.h, b.h-l.strip.h
	upper := []panel.ID{panel.TTFT, panel.TPOT, panel.Gap}
	lower := []panel.ID{panel.Tokens, panel.KV, panel.GPU, panel.Streams}
	if b.w < fourChartsWidth {
		lower = []panel.ID{panel.Tokens, panel.KV, panel.Streams}
	}
	if l.h < twoRowsHeight {
		l.bands = [][]place{band(b, top, rest, upper, nil)}
		return
	}
	first := (rest + 1) / 2
	l.bands = [][]place{
		band(b, top, first, upper, nil),
		band(b, top+first, rest-first, lower, nil),
	}
}

// band lays panels side by side: given widths first, the rest in equal parts.
func band(b rect, y, h int, ids []panel.ID, widths []int) []place {
	places := make([]place, 0, len(ids))
	x := b.x
	for i, id := range ids {
		w := (b.x + b.w - x) / (len(ids) - i)
		if i < len(widths) {
			w = widths[i]
		}
		places = append(places, place{id, rect{x, y, w, h}})
		x += w
	}
	return places
}

// shows reports whether the panel is on the screen as a panel of its own.
func (l *layout) shows(id panel.ID) bool {
	for _, b := range l.bands {
		for _, p := range b {
			if p.id == id {
				return true
			}
		}
	}
	return false
}
