package ui

import (
	"math"

	"sonde/probe/measure"
)

// streamCell is what one stream did in one column.
type streamCell struct {
	state  measure.StreamCell // flags and the longest gap are of the whole column
	active bool               // the stream was seen in this column

	waited, busy int // slices in which it waited, and in which it waited or decoded
}

// maxSlots bounds the memory of a column whatever the source says.
const maxSlots = 1024

func (c *column) foldStreams(cells []measure.StreamCell) {
	for _, s := range cells {
		if s.Slot < 0 || s.Slot >= maxSlots {
			continue
		}
		for len(c.streams) <= s.Slot {
			c.streams = append(c.streams, streamCell{})
		}
		c.streams[s.Slot].merge(s)
	}
}

// merge adds a slice. A cell waits if its stream did for half of the time: a prefill of
// about a column shall be seen. Otherwise decoding beats waiting, and waiting beats
// idling; what went wrong is kept.
func (c *streamCell) merge(s measure.StreamCell) {
	before := c.state
	c.state = s
	c.state.State = max(before.State, s.State)
	if s.State != measure.StreamIdle {
		c.busy++
	}
	if s.State == measure.StreamWaiting {
		c.waited++
	}
	if c.waited > 0 && 2*c.waited >= c.busy {
		c.state.State = measure.StreamWaiting
	} else if c.busy > c.waited {
		c.state.State = measure.StreamDecode
	}
	c.state.Long = before.Long || s.Long
	c.state.Ended = before.Ended || s.Ended
	c.state.Failed = before.Failed || s.Failed
	c.state.MaxGapMS = math.Max(before.MaxGapMS, s.MaxGapMS)
	c.state.Tokens += before.Tokens
	c.active = true
}

// gapSteps are the multiples of the usual gap at which a cell of the raster
// grows by one step. They are far apart, so that a stream that does what it
// always does stays flat, and a stripe stands out.
var gapSteps = [...]float64{2.5, 4.5, 8, 14}

// blocks are the heights of the raster, one more than there are steps.
var blocks = [len(gapSteps) + 1]rune{'▁', '▂', '▄', '▆', '█'}

// gapLevel is 0 for the usual to 4: how far the longest gap is above it.
func gapLevel(gapMS, usualMS float64) int {
	level := 0
	for usualMS > 0 && level < len(gapSteps) && gapMS >= gapSteps[level]*usualMS {
		level++
	}
	return level
}
