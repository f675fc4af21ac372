package collect

import (
	"time"

	"sonde/probe/measure"
)

// flow keeps the counts of each slice for the length of the longest window, so
// that rates over any window are sums.
type flow struct {
	from  time.Duration // when counting began
	slots []flowSlot    // oldest first
}

// flowSlot are the counts of one slice.
type flowSlot struct {
	at, length time.Duration // end of the slice; its length
	skipped    bool

	in, out   int // tokens by arrival
	chunks    int
	coalesced int
	inFlight  int           // at the end of the slice
	busy      time.Duration // in flight, integrated over the slice

	// Of requests that succeeded in the slice:
	ok, estimated                   int
	okIn, okOut, okCached, okChunks int
}

// ended counts a request that ended.
func (s *flowSlot) ended(r *measure.Request) {
	if r.Class != measure.OK {
		return
	}
	s.ok++
	s.okIn += r.InTokens
	s.okOut += r.OutTokens
	s.okCached += r.CachedTokens
	s.okChunks += r.Chunks
	if r.Source == measure.Chunks {
		s.estimated++
	}
}

func (f *flow) add(at time.Duration, s flowSlot) {
	s.at = at
	if n := len(f.slots); n > 0 {
		s.length = at - f.slots[n-1].at
	} else {
		s.length = at - f.from
	}
	if s.skipped {
		s.length = 0
	}
	f.slots = append(f.slots, s)
	drop := 0
	for drop < len(f.slots) && f.slots[drop].at <= at-2*MaxWindow {
		drop++
	}
	f.slots = append(f.slots[:0], f.slots[drop:]...)
}

// skip passes over a slice in which our process was stopped: neither its time nor
// what came in it is in any rate.
func (f *flow) skip(at time.Duration) { f.add(at, flowSlot{skipped: true}) }

// sum adds up the slices that ended within the window before now; its length is what they
// cover.
func (f *flow) sum(now, window time.Duration) (t flowSlot) {
	for i := range f.slots {
		s := &f.slots[i]
		if s.at <= now-window || s.at > now {
			continue
		}
		t.length += s.length
		t.in += s.in
		t.out += s.out
		t.chunks += s.chunks
		t.coalesced += s.coalesced
		t.busy += s.busy
		t.ok += s.ok
		t.estimated += s.estimated
		t.okIn += s.okIn
		t.okOut += s.okOut
		t.okCached += s.okCached
		t.okChunks += s.okChunks
	}
	return t
}
