package collect

import (
	"time"

	"sonde/probe/measure"
)

// MaxWindow is the longest live window.
const MaxWindow = time.Minute

const (
	windowSlots   = int(MaxWindow/time.Second) + 1
	slotExactUpTo = 2048 // samples a second
	liveExactUpTo = 8192 // samples in the window
)

// Window keeps the latency samples of the last minute, in slots of one second,
// and summarises the newest of them. Up to 8192 samples in the window its
// percentiles are exact, beyond it they are within 1 %.
type Window struct {
	slots   [windowSlots]slot
	scratch *measure.Dist // the merge of the slots asked for
	closed  merged
	version int // counts Adds
	cached  struct {
		sec     int64
		length  time.Duration
		version int
		summary measure.Summary
	}
}

type slot struct {
	sec  int64 // second of the session + 1; 0 = empty
	dist *measure.Dist
}

// merged is the merge of the whole seconds before the one that is filling: it
// stays the same for a second, while summaries are asked for at every tick.
type merged struct {
	sec    int64
	length time.Duration
	dist   *measure.Dist
}

// NewWindow makes an empty window.
func NewWindow() *Window {
	return &Window{scratch: measure.NewCoarseDist(liveExactUpTo), closed: merged{dist: measure.NewCoarseDist(liveExactUpTo)}}
}

// Add counts a sample that was completed at the given instant. Instants come in
// order of their seconds.
func (w *Window) Add(at time.Duration, ms float64) {
	sec := int64(at/time.Second) + 1
	s := &w.slots[sec%int64(windowSlots)]
	if s.sec > sec {
		return // older than anything that is kept
	}
	if sec < w.closed.sec {
		w.closed.sec = 0 // out of order after all
	}
	if s.dist == nil {
		s.dist = measure.NewCoarseDist(slotExactUpTo)
	}
	if s.sec < sec {
		s.sec = sec
		s.dist.Reset()
	}
	s.dist.Add(ms)
	w.version++
}

// Summary describes the samples of the last length before now, in whole seconds.
func (w *Window) Summary(now, length time.Duration) measure.Summary {
	sec := int64(now/time.Second) + 1
	c := &w.cached
	if c.sec == sec && c.length == length && c.version == w.version {
		return c.summary
	}
	w.scratch.Reset()
	w.scratch.Merge(w.closedBefore(sec, length))
	if s := &w.slots[sec%int64(windowSlots)]; s.sec == sec {
		w.scratch.Merge(s.dist)
	}
	c.sec, c.length, c.version = sec, length, w.version
	c.summary = w.scratch.Summary()
	return c.summary
}

// closedBefore merges the seconds of the window before sec.
func (w *Window) closedBefore(sec int64, length time.Duration) *measure.Dist {
	c := &w.closed
	if c.sec == sec && c.length == length {
		return c.dist
	}
	c.sec, c.length = sec, length
	c.dist.Reset()
	oldest := sec - int64(length/time.Second)
	for i := range w.slots {
		if s := &w.slots[i]; s.sec > oldest && s.sec < sec {
			c.dist.Merge(s.dist)
		}
	}
	return c.dist
}
