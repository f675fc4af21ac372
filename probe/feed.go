package probe

import (
	"sync"

	"sonde/probe/frame"
)

// framesKept is how many Frames a Session keeps for readers that are late: 16 s at
// the usual tick. A Frame of a busy second holds every gap of it.
const framesKept = 64

// feed keeps the newest Frames and wakes their readers. Its lock is held for a few
// copies of pointers.
type feed struct {
	mu     sync.Mutex
	frames [framesKept]*frame.Frame
	last   uint64          // number of the newest Frame; the first is 1
	ticks  []chan struct{} // of subscribers
	ended  bool
}

// publish numbers a Frame, adds it, and wakes the subscribers.
func (r *feed) publish(f *frame.Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	f.Seq = r.last
	r.frames[r.last%framesKept] = f
	for _, c := range r.ticks {
		select {
		case c <- struct{}{}:
		default: // it has not taken the last one yet
		}
	}
}

// Since returns the Frames after seq, oldest first, as many as are kept.
func (r *feed) Since(seq uint64) []*frame.Frame {
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

// Follow hands every Frame to add, in order, until the Session ends. A reader
// that is late gets what is still kept.
func (r *feed) Follow(add func(*frame.Frame)) {
	ticks := r.subscribe()
	var seq uint64
	for {
		_, alive := <-ticks
		for _, f := range r.Since(seq) {
			seq = f.Seq
			add(f)
		}
		if !alive {
			return
		}
	}
}

// subscribe makes a channel that receives after every Frame and is closed when
// the Session ends.
func (r *feed) subscribe() <-chan struct{} {
	c := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		close(c)
		return c
	}
	r.ticks = append(r.ticks, c)
	return c
}

// endAnnouncements closes the subscribers' channels.
func (r *feed) endAnnouncements() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, c := range r.ticks {
		close(c)
	}
}
