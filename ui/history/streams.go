package history

import (
	"math"
	"slices"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Stream is what one stream did in one column.
type Stream struct {
	measure.StreamCell      // flags and the longest gap are of the whole column
	Active             bool // the stream was seen in this column

	waited, busy int // slices in which it waited, and in which it waited or decoded
}

// maxSlots bounds the memory of a column whatever the source says.
const maxSlots = 1024

func (c *Column) foldStreams(cells []measure.StreamCell) {
	for _, s := range cells {
		if s.Slot < 0 || s.Slot >= maxSlots {
			continue
		}
		for len(c.Streams) <= s.Slot {
			c.Streams = append(c.Streams, Stream{})
		}
		c.Streams[s.Slot].merge(s)
	}
}

// merge adds a slice. A stream waits if it did for half of the time: a prefill of about
// a column shall be seen. Otherwise decoding beats waiting, and waiting beats idling;
// what went wrong is kept.
func (s *Stream) merge(c measure.StreamCell) {
	before := s.StreamCell
	s.StreamCell = c
	s.State = max(before.State, c.State)
	if c.State != measure.StreamIdle {
		s.busy++
	}
	if c.State == measure.StreamWaiting {
		s.waited++
	}
	if s.waited > 0 && 2*s.waited >= s.busy {
		s.State = measure.StreamWaiting
	} else if s.busy > s.waited {
		s.State = measure.StreamDecode
	}
	s.Long = before.Long || c.Long
	s.Ended = before.Ended || c.Ended
	s.Failed = before.Failed || c.Failed
	s.MaxGapMS = math.Max(before.MaxGapMS, c.MaxGapMS)
	s.Tokens += before.Tokens
	s.Active = true
}

// Positions is the mean gap by position in the answer, over the requests of the current
// level. It shows whether decoding slows down while an answer, and with it the KV cache,
// grows.
type Positions struct {
	Requests int            // behind it
	Buckets  []opt.TimeMean // PositionStep chunks each
	level    int
}

// PositionStep is how many chunks of an answer are one position.
const (
	PositionStep    = 8
	positionBuckets = 512
)

func (p *Positions) fold(f *frame.Frame) {
	if f.Load.Level != p.level {
		*p = Positions{level: f.Load.Level}
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		if !r.Class.Failed() && !r.Long && !r.Excluded && len(r.GapsMS) > 0 {
			p.add(r.GapsMS)
		}
	}
}

func (p *Positions) add(gapsMS []float32) {
	p.Requests++
	for i, ms := range gapsMS {
		at := i / PositionStep
		if at >= positionBuckets || math.IsNaN(float64(ms)) {
			break
		}
		if len(p.Buckets) <= at {
			p.Buckets = append(p.Buckets, opt.TimeMean{})
		}
		p.Buckets[at].Add(opt.Of(float64(ms)), 1)
	}
}

// Typical is the mean gap of the first positions, 0 without any.
func (p *Positions) Typical() float64 {
	if len(p.Buckets) == 0 {
		return 0
	}
	return p.Buckets[0].Mean().Or(0)
}

func (p Positions) clone() Positions {
	p.Buckets = slices.Clone(p.Buckets)
	return p
}
