package measure

import "time"

// MaxWindow is the longest live window.
const MaxWindow = time.Minute

const (
	windowSlots   = int(MaxWindow/time.Second) + 1
	slotExactUpTo = 2048 // samples a second
	liveExactUpTo = 8192 // samples in the window
)

// Window keeps the latency samples of the last minute, in slots of one second,
// and summarises the newest of them. Up to 8192 samples in the window its
// percentiles are exact, beyond it they are within 0.1 %.
type Window struct {
	slots   [windowSlots]slot
	scratch *Dist // the merge of the slots asked for
	version int   // counts Adds
	cached  struct {
		sec     int64
		length  time.Duration
		version int
		summary Summary
	}
}

type slot struct {
	sec  int64 // second of the session + 1; 0 = empty
	dist *Dist
}

// NewWindow makes an empty window.
func NewWindow() *Window { return &Window{scratch: NewDist(liveExactUpTo)} }

// Add counts a sample that was completed at the given instant.
func (w *Window) Add(at time.Duration, ms float64) {
	sec := int64(at/time.Second) + 1
	s := &w.slots[sec%int64(windowSlots)]
	if s.sec > sec {
		return // older than anything that is kept
	}
	if s.dist == nil {
		s.dist = NewDist(slotExactUpTo)
	}
	if s.sec < sec {
		s.sec = sec
		s.dist.Reset()
	}
	s.dist.Add(ms)
	w.version++
}

// Summary describes the samples of the last length before now, in whole seconds.
func (w *Window) Summary(now, length time.Duration) Summary {
	sec := int64(now/time.Second) + 1
	c := &w.cached
	if c.sec == sec && c.length == length && c.version == w.version {
		return c.summary
	}
	w.scratch.Reset()
	oldest := sec - int64(length/time.Second)
	for i := range w.slots {
		if s := &w.slots[i]; s.sec > oldest && s.sec <= sec {
			w.scratch.Merge(s.dist)
		}
	}
	c.sec, c.length, c.version = sec, length, w.version
	c.summary = w.scratch.Summary()
	return c.summary
}

// Reset empties the window.
func (w *Window) Reset() {
	for i := range w.slots {
		w.slots[i].sec = 0
	}
	w.version++
}
