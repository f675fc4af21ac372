package ui

import (
	"time"

	"sonde/probe/frame"
)

// keepColumns bounds the history: 20 minutes at 1 s, more than the widest screen.
const keepColumns = 1200

// maxColumns is when the oldest columns are dropped, so that dropping is rare.
const maxColumns = keepColumns + keepColumns/4

// history is what the charts remember: a row of columns of equal length, oldest
// first, the last one still open.
type history struct {
	width   time.Duration // of a column
	first   int64         // number of columns[0] since the session began
	columns []*column
	version version
	decode  positions
	engine  engineLog
}

// version counts changes, so that a panel can tell whether to draw again. Every
// new column changes all of them.
type version struct {
	columns, ttft, tpot, gaps, tokens, streams int
}

func newHistory(width time.Duration) *history { return &history{width: width} }

// fold adds a Frame. Frames come in order; one that is older than the open
// column (a source that started over) begins a new history.
func (h *history) fold(f *frame.Frame) {
	if len(h.columns) == 0 {
		// A dot of a line chart must not be shorter than a Frame's slice, or
		// every other dot would stay empty.
		h.width = max(h.width, 2*f.Slice)
	}
	middle := f.At - f.Slice/2
	number := int64(middle / h.width)
	h.advance(number)
	half := 0
	if middle%h.width >= h.width/2 {
		half = 1
	}
	h.open().fold(f, half)
	h.decode.fold(f)
	h.engine = h.engine.fold(f.Engine)
	h.bump(f)
}

// advance closes columns until the open one has the number. Time without Frames
// leaves empty columns.
func (h *history) advance(number int64) {
	last := h.first + int64(len(h.columns)) - 1
	if len(h.columns) == 0 || number < last || number-last > keepColumns {
		h.columns, h.first = []*column{{}}, number
		h.version.columns++
		return
	}
	for ; last < number; last++ {
		h.open().close()
		h.columns = append(h.columns, &column{})
		h.version.columns++
	}
	if len(h.columns) > maxColumns {
		drop := len(h.columns) - keepColumns
		h.columns = append([]*column(nil), h.columns[drop:]...)
		h.first += int64(drop)
	}
}

func (h *history) open() *column { return h.columns[len(h.columns)-1] }

// bump counts the changes that the Frame made within the open column.
func (h *history) bump(f *frame.Frame) {
	v, c := &h.version, &f.Client
	if len(c.SliceTTFT) > 0 {
		v.ttft++
	}
	if len(c.SliceTPOT) > 0 {
		v.tpot++
	}
	if len(c.SliceGaps) > 0 {
		v.gaps++
	}
	if c.SliceInTokens+c.SliceOutTokens > 0 {
		v.tokens++
	}
	if len(f.Streams) > 0 {
		v.streams++
	}
}

// last gives the newest n columns, oldest first; fewer if there are no more.
func (h *history) last(n int) []*column {
	return h.columns[max(0, len(h.columns)-max(0, n)):]
}

// clone is a history that later Frames do not change. Closed columns are shared:
// they are final.
func (h *history) clone() *history {
	c := *h
	c.columns = append([]*column(nil), h.columns...)
	c.decode = h.decode.clone()
	if n := len(c.columns); n > 0 {
		c.columns[n-1] = c.columns[n-1].clone()
	}
	return &c
}

func (c *column) clone() *column {
	d := *c
	for i := range d.dots {
		d.dots[i].ttftMS = append([]float64(nil), c.dots[i].ttftMS...)
		d.dots[i].tpotMS = append([]float64(nil), c.dots[i].tpotMS...)
	}
	d.gaps.bins = append([]uint32(nil), c.gaps.bins...)
	d.streams = append([]streamCell(nil), c.streams...)
	return &d
}
