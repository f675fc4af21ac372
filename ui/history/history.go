// Package history is what the charts remember of a session: a row of columns of equal
// length, the newest readings of the engine, and gaps by their position in the answer.
// It is fed Frames in order by one goroutine; panels read it.
package history

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Keep is how many columns the history holds: 20 minutes at 1 s, more than the widest
// screen. Up to maxColumns are kept, so that dropping is rare.
const (
	Keep       = 1200
	maxColumns = Keep + Keep/4
)

// History is a row of columns, oldest first, the last one still open.
type History struct {
	Width     time.Duration // of a column
	Seen      Seen
	Positions Positions
	Engine    Engine
	Served    time.Duration // when a token or a whole answer last came; 0: never yet
	Refused   time.Duration // when a request last failed or was refused; 0: never yet

	began *time.Duration // when the load began; nil: it has not, or that is not known
	load  *frame.Load    // as it was last requested

	first   int64 // number of columns[0] since the session began
	columns []*Column

	dot                    int64         // number of the newest dot
	ttft, tpot             *measure.Dist // its samples
	columnTTFT, columnTPOT *measure.Dist // of the open column
}

// Seen is what there has been any of since the session began. Until then a chart says why
// it is empty.
type Seen struct{ TTFT, TPOT, Gaps, Tokens, Streams bool }

// New is an empty history of columns of that length.
func New(width time.Duration) *History {
	return &History{Width: width, ttft: measure.NewDist(exactSamples), tpot: measure.NewDist(exactSamples), columnTTFT: measure.NewDist(exactSamples), columnTPOT: measure.NewDist(exactSamples)}
}

// exactSamples is up to how many samples of a dot the percentiles are exact.
const exactSamples = 4096

// Fold adds a Frame. Frames come in order; one that is older than the open column (a
// source that started over) begins a new history.
func (h *History) Fold(f *frame.Frame) {
	if len(h.columns) == 0 {
		// A dot of a line chart must not be shorter than a Frame's slice, or
		// every other dot would stay empty.
		h.Width = max(h.Width, 2*f.Slice)
	}
	dot := int64((f.At - f.Slice/2) / (h.Width / 2))
	h.advance(dot / 2)
	h.noteLoad(f)
	h.open().fold(f)
	h.open().load = h.load
	h.latencies(dot, &f.Client)
	h.Positions.fold(f)
	h.Engine.fold(&f.Engine)
	h.Seen.note(f)
	h.noteService(f)
}

// noteLoad remembers the load and when the first one began, or the watching.
func (h *History) noteLoad(f *frame.Frame) {
	if h.load == nil || *h.load != f.Load.Requested {
		l := f.Load.Requested
		h.load = &l
	}
	if h.began == nil && HasLoad(f) {
		h.SetLoadBegan(f.At - f.Slice)
	}
}

// HasLoad reports whether the load has begun, or the watching of a session that sends none.
func HasLoad(f *frame.Frame) bool { return f.Load.Requested.Concurrency > 0 || f.Load.Watch }

// LoadBegan is when the load began, since the session began.
func (h *History) LoadBegan() (at time.Duration, known bool) {
	if h.began == nil {
		return 0, false
	}
	return *h.began, true
}

// SetLoadBegan is for a History whose Frames begin later than the load.
func (h *History) SetLoadBegan(at time.Duration) { h.began = &at }

// noteService remembers when the server last served, and when it last did not. While our own
// process was stopped it could not be seen.
func (h *History) noteService(f *frame.Frame) {
	if f.Client.SliceOutTokens > 0 || f.Client.SliceRequests > 0 || f.Stopped {
		h.Served = f.At
	}
	for i := range f.Requests {
		if c := f.Requests[i].Class; c.Failed() || c == measure.Loading {
			h.Refused = f.At
		}
	}
}

// latencies adds the samples of a slice to its dot.
func (h *History) latencies(dot int64, c *measure.Client) {
	if dot/2 != h.dot/2 {
		h.columnTTFT.Reset()
		h.columnTPOT.Reset()
	}
	if dot != h.dot {
		h.ttft.Reset()
		h.tpot.Reset()
		h.dot = dot
	}
	for _, ms := range c.SliceTTFT {
		h.ttft.Add(ms)
		h.columnTTFT.Add(ms)
	}
	for _, ms := range c.SliceTPOT {
		h.tpot.Add(ms)
		h.columnTPOT.Add(ms)
	}
	open := h.open()
	open.Dots[dot%2] = Dot{h.ttft.Summary(), h.tpot.Summary()}
	open.TTFT, open.TPOT = h.columnTTFT.Summary(), h.columnTPOT.Summary()
}

// advance appends columns until the open one has the number. Time without Frames leaves
// empty columns.
func (h *History) advance(number int64) {
	last := h.first + int64(len(h.columns)) - 1
	if len(h.columns) == 0 || number < last || number-last > Keep {
		h.columns, h.first = []*Column{{}}, number
		return
	}
	for ; last < number; last++ {
		h.columns = append(h.columns, &Column{})
	}
	if len(h.columns) > maxColumns {
		drop := len(h.columns) - Keep
		h.columns = append([]*Column(nil), h.columns[drop:]...)
		h.first += int64(drop)
	}
}

func (h *History) open() *Column { return h.columns[len(h.columns)-1] }

// note remembers what the Frame has.
func (s *Seen) note(f *frame.Frame) {
	c := &f.Client
	s.TTFT = s.TTFT || len(c.SliceTTFT) > 0
	s.TPOT = s.TPOT || len(c.SliceTPOT) > 0
	s.Gaps = s.Gaps || len(c.SliceGaps) > 0
	s.Tokens = s.Tokens || c.SliceInTokens+c.SliceOutTokens > 0
	s.Streams = s.Streams || len(f.Streams) > 0
}

// Last gives the newest n columns, oldest first; fewer if there are no more.
func (h *History) Last(n int) []*Column {
	return h.columns[max(0, len(h.columns)-max(0, n)):]
}

// Oldest and Newest are the numbers of the first column that is kept and of the open one,
// since the session began. Without any column Newest is below Oldest.
func (h *History) Oldest() int64 { return h.first }
func (h *History) Newest() int64 { return h.first + int64(len(h.columns)) - 1 }

// Column is the one of that number; nil if it is not kept.
func (h *History) Column(number int64) *Column {
	if number < h.Oldest() || number > h.Newest() {
		return nil
	}
	return h.columns[number-h.first]
}

// Clone is a history that later Frames do not change. Closed columns are shared: they
// are final.
func (h *History) Clone() *History {
	c := *h
	c.columns = append([]*Column(nil), h.columns...)
	c.Positions = h.Positions.clone()
	c.Engine = h.Engine.clone()
	if n := len(c.columns); n > 0 {
		c.columns[n-1] = c.columns[n-1].clone()
	}
	return &c
}
