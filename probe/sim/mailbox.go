package sim

import (
	"sync"
	"sync/atomic"
)

// mailbox holds the tokens of one request until its handler takes them. Putting
// never waits, so a slow client delays nobody but itself.
type mailbox struct {
	wake  chan struct{} // something was put
	clump *atomic.Int64 // tokens that make a reader wake up; 0 and 1: any

	mu    sync.Mutex
	words []uint16
	end   finish
}

func newMailbox(clump *atomic.Int64) *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), clump: clump}
}

// together marks a word whose successor belongs into the same chunk: the engine
// yielded both in one step.
const together = 1 << 15

func (m *mailbox) put(words []uint16, end finish) {
	m.mu.Lock()
	m.words = append(m.words, words...)
	for i := len(m.words) - len(words); i < len(m.words)-1; i++ {
		m.words[i] |= together
	}
	m.end = end
	ready := end != finishNone || int64(len(m.words)) >= m.clump.Load()
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
