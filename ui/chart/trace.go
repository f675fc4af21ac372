package chart

import "github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

// Dots of a braille cell.
const (
	dotsWide = 2
	dotsHigh = 4
)

// owner says which series has a cell: its number from 1, or 0 for none.
type owner int32

// trace collects the dots of all lines of a chart, and for each cell the series that
// came there last. In ASCII a cell is one dot high.
type trace struct {
	cols   int // cells
	high   int // dots in the height of a cell
	height int // dots
	owners []owner
	above  []owner                // per cell column: the series with a value beyond the scale
	dots   *runes.PatternDotsGrid // nil in ASCII
}

func newTrace(cols, rows int, ascii bool) *trace {
	t := &trace{cols: cols, high: dotsHigh, owners: make([]owner, cols*rows), above: make([]owner, cols)}
	if ascii {
		t.high = 1
	} else {
		t.dots = runes.NewPatternDotsGrid(cols*dotsWide, rows*dotsHigh)
	}
	t.height = rows * t.high
	return t
}

// draw adds a line through values, one per dot column, the last at the right edge.
func (t *trace) draw(r *ruler, values []float64, by owner) {
	if t.height == 0 {
		return
	}
	shown, x := newest(values, t.cols*dotsWide)
	before := -1 // dot row of the value before, −1 = none
	for _, v := range shown {
		y := -1
		if slot := r.slot(v, t.height); slot >= 0 {
			y = t.height - 1 - slot
			t.join(x, before, y, by)
			if r.above(v) {
				t.above[x/dotsWide] = by
			}
		}
		before = y
		x++
	}
}

// join draws a dot at (x, y) and connects it with the one before, at (x−1, before): half
// of the way lies in either column.
func (t *trace) join(x, before, y int, by owner) {
	switch way := y - before; {
	case before < 0 || way == 0:
		t.column(x, y, y, by)
	case way > 0:
		half := before + way/2
		t.column(x-1, before, half, by)
		t.column(x, half+1, y, by)
	default:
		half := before + way/2
		t.column(x-1, half, before, by)
		t.column(x, y, half-1, by)
	}
}

// column sets the dots from row top down to row bottom.
func (t *trace) column(x, top, bottom int, by owner) {
	for y := top; y <= bottom; y++ {
		t.owners[y/t.high*t.cols+x/dotsWide] = by
		if t.dots != nil {
			t.dots.Set(x, y)
		}
	}
}
