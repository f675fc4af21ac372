package load

import (
	"context"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/prompt"
)

// due is an arrival whose time has come, or comes next.
type due struct {
	arrivals.Arrival                // on the clock of the Pool
	made             *prompt.Prompt // made ahead of time; nil: when the request begins
	capped           bool           // it waits for a free stream
}

// replayed is a trace as it is replayed: the schedule, and what has become of it.
type replayed struct {
	*arrivals.Trace
	since time.Duration
	pos   int
	over  bool // nothing is left of the schedule
	state frame.TraceState
}

// next is the next arrival of the trace.
func (r *replayed) next() (a arrivals.Arrival, ok bool) {
	if r.pos == len(r.Arrivals) {
		return a, false
	}
	a = r.Arrivals[r.pos]
	a.At += r.since
	r.pos++
	return a, true
}

// madeAhead is how many prompts of a trace are made before they are due: as many as may be due at
// once in a busy trace. A long one has some 500 kB.
const madeAhead = 32

// startTrace begins the trace. p.mu is held.
func (p *Pool) startTrace() {
	gen, ctx, r := p.pacerGen, p.ctx, &replayed{Trace: p.opt.Trace, since: p.now()}
	r.state = frame.TraceState{Arrivals: len(r.Arrivals), Length: r.Length(), Empty: r.Empty}
	p.trace = r
	ahead := make(chan due, madeAhead)
	done, cancel := context.WithCancel(ctx)
	p.spawn(func() { p.makeAhead(done, r, ahead) })
	p.spawn(func() {
		defer cancel()
		p.pace(ctx, func() (due, bool) {
			d, ok := <-ahead
			return d, ok
		}, gen)
		p.mu.Lock()
		defer p.mu.Unlock()
		r.over = true
	})
}

// makeAhead makes the prompts of a trace before they are due.
func (p *Pool) makeAhead(ctx context.Context, r *replayed, ahead chan<- due) {
	defer close(ahead)
	for {
		a, ok := r.next()
		if !ok {
			return
		}
		if !p.fits(r, &a) {
			continue
		}
		made := p.makePrompt(a)
		select {
		case ahead <- due{Arrival: a, made: &made}:
		case <-ctx.Done():
			return
		}
	}
}

// fits cuts the prompt of an arrival to what the model takes beside the answer, and reports
// whether anything is left.
func (p *Pool) fits(r *replayed, a *arrivals.Arrival) bool {
	if p.opt.Room == nil {
		return true
	}
	room, known := p.opt.Room(a.Out)
	if !known || a.In <= room {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if room < 1 {
		r.state.Skipped++
		return false
	}
	a.In = room
	r.state.Cut++
	r.state.CutTo = max(r.state.CutTo, room)
	return true
}

// makePrompt makes the prompt of an arrival with lengths of its own.
func (p *Pool) makePrompt(a arrivals.Arrival) prompt.Prompt {
	source, ok := p.opt.Prompts.(interface {
		Blocks(tokens int, numbers []uint64, blockTokens int) prompt.Prompt
	})
	if ok && len(a.Blocks) > 0 {
		return source.Blocks(a.In, a.Blocks, arrivals.BlockTokens)
	}
	return p.opt.Prompts.Next(a.In)
}

// leaveOut counts arrivals that are never sent. p.mu is held.
func (p *Pool) leaveOut(n int) {
	if p.trace != nil {
		p.trace.state.LeftOut += n
	}
}

// began counts an arrival that begins now. p.mu is held.
func (p *Pool) began(d due) {
	if p.trace == nil {
		return
	}
	s := &p.trace.state
	s.Sent++
	if d.capped {
		s.Waited++
		s.LongestWait = max(s.LongestWait, p.now()-d.At)
	}
}

// Replay is how far a trace has come; nil if none is replayed.
func (p *Pool) Replay() *frame.TraceState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trace == nil {
		return nil
	}
	s := p.trace.state
	s.At = min(p.now()-p.trace.since, s.Length)
	s.Waiting = len(p.waiting)
	s.Ended = p.trace.over && len(p.waiting) == 0
	return &s
}

// nearby is how much of a trace on both sides of now its present rate is taken from.
const nearby = 5 * time.Second

// Outlook is how many requests per second are due now, where that changes by itself, else 0; and what
// is ahead.
func (p *Pool) Outlook() (rateNow float64, ahead arrivals.Outlook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.trace; r != nil {
		t := p.now() - r.since
		if t > r.Length() {
			return 0, arrivals.Outlook{}
		}
		from, to := max(0, t-nearby), min(r.Length()+1, t+nearby)
		return (r.Count(to) - r.Count(from)) / (to - from).Seconds(), arrivals.Look(r.Count, r.Length(), t)
	}
	return p.setting.Schedule().Outlook(p.now() - p.rateSince)
}
