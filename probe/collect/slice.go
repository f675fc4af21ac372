package collect

import (
	"time"

	"sonde/probe/measure"
)

// slice gathers what happened between two ticks.
type slice struct {
	from, to time.Duration
	stopped  bool // our process did not run for a while

	ttft, tpot []float64
	requests   []measure.Request
	prefill    int
	thinking   int           // streams between two turns of a conversation
	oldest     time.Duration // age of the oldest request without a token
	flowSlot   flowSlot
}

// watch counts a running request.
func (s *slice) watch(live *liveRequest) {
	if !live.running {
		if live.thinking {
			s.thinking++
		}
		return
	}
	s.flowSlot.busy += overlap(live.start, s.to, s.from, s.to)
	s.flowSlot.inFlight++
	if live.tokens == 0 {
		s.prefill++
		if live.sent {
			s.oldest = max(s.oldest, s.to-live.start)
		}
	}
}

// cell is what a stream did in the slice; not ok if it was idle throughout.
func (s *slice) cell(slot int, p *pending, live *liveRequest) (measure.StreamCell, bool) {
	c := measure.StreamCell{Slot: slot, Long: live.long, MaxGapMS: p.maxGapMS, Tokens: p.tokens}
	for i := range p.ended {
		c.Ended = true
		c.Failed = c.Failed || p.ended[i].Class.Failed() || p.ended[i].Class == measure.Loading
		c.Long = c.Long || p.ended[i].Long
	}
	switch {
	case live.running && live.tokens == 0:
		c.State = measure.StreamWaiting
		c.WaitMS = measure.MS(max(0, s.to-live.start))
	case live.running:
		c.State = measure.StreamDecode
		// A stall shows while it happens: the open gap is a lower bound.
		c.MaxGapMS = max(c.MaxGapMS, measure.MS(s.to-live.last))
	case p.tokens > 0:
		c.State = measure.StreamDecode
	case !c.Ended:
		return c, false
	}
	return c, true
}

// overlap is how much of [a, b] lies within [from, to].
func overlap(a, b, from, to time.Duration) time.Duration {
	return max(0, min(b, to)-max(a, from))
}
