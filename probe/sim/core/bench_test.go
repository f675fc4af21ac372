package core

import (
	"testing"
	"time"
)

// bench runs a core in virtual time.
type bench struct {
	t    *testing.T
	core *engine
	now  time.Duration
	gaps map[*Sequence][]time.Duration
	// watch is called before every iteration, if set.
	watch func()
	// held is ∫ (running + waiting) dt.
	held time.Duration
	// onYield sees everything that iterations yield, if set.
	onYield func(Output)
	// onIteration sees every iteration of the core, not those of its prefill pool.
	onIteration func(Iteration)
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	s, err := o.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, core: newEngine(s), gaps: map[*Sequence][]time.Duration{}}
}

// prompt makes n tokens that no other prompt shares.
func prompt(n int, id uint32) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = id<<16 + uint32(i)
	}
	return p
}

func (b *bench) submit(a Request) *Sequence {
	s := NewSequence(a, &b.core.Setup)
	s.Sink = func([]uint16, FinishReason) {}
	b.core.submit(s, b.now)
	return s
}

// exactly is a request for n tokens.
func exactly(p []uint32, n int) Request { return Request{Prompt: p, MaxTokens: n, IgnoreEOS: true} }

// step runs one iteration; false if there is nothing to do. Requests that due
// yields arrive while it runs.
func (b *bench) step(due func(until time.Duration)) bool {
	if b.watch != nil {
		b.watch()
	}
	it, ok := b.core.begin(b.now)
	if !ok {
		return b.passIdle(due)
	}
	if b.onIteration != nil {
		b.onIteration(it)
	}
	if due != nil {
		due(it.End)
	}
	b.pass(it.End)
	for _, y := range b.core.finish(it.End) {
		if !y.First && b.gaps != nil {
			b.gaps[y.Seq] = append(b.gaps[y.Seq], y.Gap)
		}
		if b.onYield != nil {
			b.onYield(y)
		}
	}
	return true
}

// passIdle waits for what the core expects without an iteration of its own.
func (b *bench) passIdle(due func(until time.Duration)) bool {
	next, ok := b.core.next()
	if ok && due != nil {
		due(next)
	}
	if ok {
		b.pass(max(b.now, next))
	}
	return ok
}

func (b *bench) pass(to time.Duration) {
	running, waiting := b.core.counts()
	b.held += time.Duration(running+waiting) * (to - b.now)
	b.now = to
}

func (b *bench) drain() {
	for n := 0; b.step(nil); n++ {
		if n > 1e6 {
			b.t.Fatal("the engine does not come to an end")
		}
	}
}
