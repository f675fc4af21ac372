package collect

import (
	"sync"
	"time"

	"sonde/probe/measure"
)

// Track follows one stream slot. The goroutine that runs the slot's requests
// writes to it; the Collector takes what has gathered, once a tick. Its lock is
// held for nanoseconds by either, and no other slot ever waits for it.
type Track struct {
	slot int

	mu    sync.Mutex
	live  liveRequest
	pend  pending
	taken pending // what take handed over last: its memory serves again after
}

// liveRequest is the request that the slot is running.
type liveRequest struct {
	running bool
	long    bool
	stopped bool // our process was stopped while it ran: it gives no sample
	sent    bool
	start   time.Duration // t0, or the intent until it was sent
	last    time.Duration // newest token; valid if tokens > 0
	tokens  int
	prompt  int // requested length, until the server has counted

	thinking bool // between two turns of a conversation; not running
}

// pending is what happened since the last tick.
type pending struct {
	gaps      []float32 // ms
	late      []float32 // ms
	ttft      []float64 // ms
	ended     []measure.Request
	tokens    int // output tokens, as far as chunks tell
	prompts   int // prompt tokens whose prefill ended: their first token came
	coalesced int
	maxGapMS  float64
}

// Begin opens a request on the slot. promptTokens is the requested length.
func (t *Track) Begin(intent time.Duration, long bool, promptTokens int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = liveRequest{running: true, long: long, start: intent, prompt: promptTokens}
}

// Think notes that the user of the slot's conversation begins to think, or has thought.
func (t *Track) Think(yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live.thinking = yes
}

// Sent notes t0.
func (t *Track) Sent(t0 time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live.start, t.live.sent, t.live.tokens = t0, true, 0
}

// Token notes a token-bearing chunk: its arrival, how late it was read, and how
// many tokens it holds as far as is known.
func (t *Track) Token(at, late time.Duration, tokens int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, p := &t.live, &t.pend
	counts := !l.long && !l.stopped
	if l.tokens == 0 {
		if counts {
			p.ttft = append(p.ttft, measure.MS(at-l.start))
			p.prompts += l.prompt
		}
	} else {
		gap := measure.MS(at - l.last)
		if counts {
			p.gaps = append(p.gaps, float32(gap))
		}
		p.maxGapMS = max(p.maxGapMS, gap)
		if at == l.last {
			p.coalesced++
		}
	}
	if !l.stopped {
		p.late = append(p.late, float32(measure.MS(late)))
	}
	p.tokens += tokens
	l.tokens += tokens
	l.last = at
}

// End closes the request.
func (t *Track) End(r measure.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Excluded = r.Excluded || t.live.stopped
	t.live = liveRequest{}
	t.pend.ended = append(t.pend.ended, r)
}

// take hands over what has gathered and what is running now. What it returns is
// valid until the next call. If our process was stopped meanwhile, the request
// that runs gives no more samples.
func (t *Track) take(stopped bool) (pending, liveRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live.stopped = t.live.stopped || stopped && t.live.running
	t.pend, t.taken = t.taken.emptied(), t.pend
	return t.taken, t.live
}

// emptied is nothing gathered, in the memory of p.
func (p *pending) emptied() pending {
	clear(p.ended) // they hold all the gaps of their requests
	return pending{gaps: p.gaps[:0], late: p.late[:0], ttft: p.ttft[:0], ended: p.ended[:0]}
}
