package sim

import "sync"

// mailbox holds the tokens of one request until its handler takes them. Putting
// never waits, so a slow client delays nobody but itself.
type mailbox struct {
	wake chan struct{} // something was put

	mu    sync.Mutex
	words []uint16
	end   finish
	clump int // tokens that make a reader wake up
}

func newMailbox(clump int) *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), clump: clump}
}

func (m *mailbox) put(words []uint16, end finish) {
	m.mu.Lock()
	m.words = append(m.words, words...)
	m.end = end
	ready := end != finishNone || len(m.words) >= m.clump
	m.mu.Unlock()
	if !ready {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take moves what has arrived into buf.
func (m *mailbox) take(buf []uint16) ([]uint16, finish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buf = append(buf[:0], m.words...)
	m.words = m.words[:0]
	return buf, m.end
}
