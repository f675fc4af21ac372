package probe

import (
	"sync"

	"sonde/probe/frame"
)

// framesKept is how many Frames a Session keeps for readers that are late: 16 s at
// the usual tick. A Frame of a busy second holds every gap of it.
const framesKept = 64

// ring keeps the newest Frames. Its lock is held for a few copies of pointers.
type ring struct {
	mu     sync.Mutex
	frames [framesKept]*frame.Frame
	last   uint64 // number of the newest Frame; the first is 1
}

func (r *ring) add(f *frame.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	f.Seq = r.last
	r.frames[r.last%framesKept] = f
}

func (r *ring) since(seq uint64) []*frame.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last > framesKept {
		seq = max(seq, r.last-framesKept)
	}
	var out []*frame.Frame
	for n := seq + 1; n <= r.last; n++ {
		out = append(out, r.frames[n%framesKept])
	}
	return out
}
