package ui

import (
	"testing"

	"sonde/ui/panel"
)

// Every cell of the screen belongs to exactly one place.
func TestLayoutCoversTheScreenOnce(t *testing.T) {
	for w := floorWidth; w <= 260; w += 7 {
		for h := floorHeight; h <= 90; h++ {
			for _, zoomed := range []bool{false, true} {
				l := layoutFor(w, h, zoomed, panel.Gap)
				checkCover(t, &l)
			}
		}
	}
}

func checkCover(t *testing.T, l *layout) {
	t.Helper()
	covered := make([]int, l.w*l.h)
	add := func(r rect) {
		if r.w <= 0 || r.h <= 0 {
			t.Fatalf("%d×%d: empty place %+v", l.w, l.h, r)
		}
		for y := r.y; y < r.y+r.h; y++ {
			for x := r.x; x < r.x+r.w; x++ {
				covered[y*l.w+x]++
			}
		}
	}
	add(rect{0, 0, l.w, 1})
	add(l.verdict)
	add(rect{0, l.h - 1, l.w, 1})
	if l.strip.h > 0 {
		add(l.strip)
	}
	for _, b := range l.bands {
		for _, p := range b {
			add(p.rect)
		}
	}
	for i, n := range covered {
		if n != 1 {
			t.Fatalf("%d×%d: cell %d,%d is covered %d times", l.w, l.h, i%l.w, i/l.w, n)
		}
	}
}

func TestPanelsFallOutInOrder(t *testing.T) {
	for _, c := range []struct {
		w, h          int
		strip         bool
		gone, present []panel.ID
	}{
		{120, 40, false, nil, []panel.ID{panel.Load, panel.TTFT, panel.TPOT, panel.Gap, panel.Tokens, panel.GPU, panel.KV, panel.Streams}},
		{80, 24, true, nil, []panel.ID{panel.TTFT, panel.TPOT, panel.Gap, panel.Tokens, panel.GPU, panel.KV, panel.Streams}},
		{75, 24, true, []panel.ID{panel.GPU}, []panel.ID{panel.Tokens, panel.KV, panel.Streams}},
		{60, 16, true, []panel.ID{panel.GPU, panel.KV, panel.Streams, panel.Tokens}, []panel.ID{panel.TTFT, panel.TPOT, panel.Gap}},
	} {
		l := layoutFor(c.w, c.h, false, panel.TTFT)
		if (l.strip.h > 0) != c.strip {
			t.Errorf("%d×%d: strip of %d lines", c.w, c.h, l.strip.h)
		}
		for _, id := range c.gone {
			if l.shows(id) {
				t.Errorf("%d×%d: panel %d is still there", c.w, c.h, id)
			}
		}
		for _, id := range c.present {
			if !l.shows(id) {
				t.Errorf("%d×%d: panel %d is missing", c.w, c.h, id)
			}
		}
	}
}

// On a large screen all bands have an edge in the same two columns, so that one moment of
// time stands in one column of every chart above and below.
func TestBandsShareTheirEdges(t *testing.T) {
	for w := fullWidth; w <= 260; w++ {
		l := layoutFor(w, 50, false, panel.TTFT)
		for _, band := range l.bands {
			last, before := band[len(band)-1], band[len(band)-2]
			if first := l.bands[0]; last.x != first[2].x || last.w != first[2].w || before.x+before.w != last.x {
				t.Errorf("%d wide: %+v beside %+v", w, band, first)
			}
		}
	}
}
