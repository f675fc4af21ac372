package core

import "time"

// prefillPool is the other half of a disaggregated engine: GPUs of its own that do
// nothing but read prompts. A prompt's KV then crosses a link to the GPUs that decode,
// which compute its last token again to generate the first of the answer. The pool keeps its
// copy until the sequence is admitted there: when decoding runs out of KV, so does
// prefill.
//
// The pool is brought up to date whenever its state is needed (advance). Its instants
// are exact all the same: what it begins follows from what was submitted before.
type prefillPool struct {
	engine   *engine
	current  Iteration
	busy     bool          // current is under way
	linkFree time.Duration // when the last transfer ends
	moving   []*Sequence   // on the link, the next to arrive first
	begun    []Iteration   // since the last call of prefills
}

// newPrefillPool makes the pool of a decoding engine. Counters are common to both.
func newPrefillPool(s Setup, counters *Stats) *prefillPool {
	p := &prefillPool{engine: newHalf(s, !s.NoPrefixCache, counters)}
	p.engine.handOver = p.send
	return p
}

func (p *prefillPool) submit(s *Sequence, now time.Duration) {
	p.advance(now)
	p.engine.waiting = append(p.engine.waiting, s)
	p.begin(now)
}

// again takes back a sequence that lost its KV, to be read again before all others.
func (p *prefillPool) again(s *Sequence, now time.Duration) {
	p.advance(now)
	p.engine.requeue(s)
	p.begin(now)
}

// advance does everything that was due by now.
func (p *prefillPool) advance(now time.Duration) {
	for p.busy && p.current.End <= now {
		p.busy = false
		p.engine.finish(p.current.End)
		p.begin(p.current.End)
	}
}

func (p *prefillPool) begin(now time.Duration) {
	if p.busy {
		return
	}
	if p.current, p.busy = p.engine.begin(now); p.busy {
		p.begun = append(p.begun, p.current)
	}
}

// send queues the KV of a sequence on the link.
func (p *prefillPool) send(s *Sequence, now time.Duration) {
	bytes := float64(s.computed) * p.engine.Served.KVBytesPerToken()
	took := time.Duration(float64(seconds(bytes/(p.engine.TransferGBs*1e9))) / p.engine.Speed)
	p.linkFree = max(p.linkFree, now) + took
	s.ready = p.linkFree
	p.moving = append(p.moving, s)
}

// arrived removes and returns the sequences whose KV has arrived by now.
func (p *prefillPool) arrived(now time.Duration) []*Sequence {
	n := 0
	for n < len(p.moving) && p.moving[n].ready <= now {
		n++
	}
	here := p.moving[:n]
	p.moving = p.moving[n:]
	return here
}

// prefills returns the iterations that the pool began since the last call.
func (c *engine) prefills() []Iteration {
	if c.pool == nil {
		return nil
	}
	begun := c.pool.begun
	c.pool.begun = nil
	return begun
}

// next is when begin may find something to do without another request; false if never.
func (c *engine) next() (at time.Duration, ok bool) {
	p := c.pool
	if p != nil && p.busy {
		at, ok = p.current.End, true
	}
	if p != nil && len(p.moving) > 0 && (!ok || p.moving[0].ready < at) {
		at, ok = p.moving[0].ready, true
	}
	return at, ok
}
