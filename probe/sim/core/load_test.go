package core

import (
	"math/rand/v2"
	"slices"
	"time"
)

// closedLoop is a load of so many streams, each of which sends its next request when
// its answer is complete.
type closedLoop struct {
	streams int
	ask     func(n int) Request // of the n-th request
	warmup  time.Duration       // before what is measured
	window  time.Duration
}

// seen is what a client saw in the window: of requests that began and ended in it, and
// of all tokens in it. Times are in seconds.
type seen struct {
	requests         int
	ttft, tpot, gaps []float64
	outputPerS       float64
	inFlight         float64 // mean
	e2e              float64 // mean, of all requests that ended in the window
	perS             float64 // requests that ended in it
	hardware         Activity
}

// run plays the load over the core in virtual time.
func (l closedLoop) run(b *bench) seen {
	var out seen
	b.gaps = nil // the window's are enough
	from, to := b.now+l.warmup, b.now+l.warmup+l.window
	n := 0
	next := func() {
		b.submit(l.ask(n))
		n++
	}
	b.onYield = func(y Output) {
		out.note(y, from)
		if y.End != Unfinished {
			next()
		}
	}
	b.onIteration = func(it Iteration) { out.meter(it, &b.core.gpu, max(from, it.start), min(to, it.End), l.window) }
	for range l.streams {
		next()
	}
	for b.now < from {
		b.step(nil)
	}
	start, held := b.now, b.held
	for b.now < to {
		b.step(nil)
	}
	b.onYield, b.onIteration = nil, nil
	window := (b.now - start).Seconds()
	out.outputPerS /= window
	out.inFlight = (b.held - held).Seconds() / window
	out.e2e /= out.perS
	out.perS /= window
	return out
}

func (o *seen) note(y Output, from time.Duration) {
	s := y.Seq
	if s.Last <= from {
		return
	}
	o.outputPerS += float64(len(y.words))
	if !y.First {
		o.gaps = append(o.gaps, y.Gap.Seconds())
	}
	if y.End == Unfinished {
		return
	}
	o.perS++
	o.e2e += (s.Last - s.Arrived).Seconds()
	if s.Arrived < from {
		return
	}
	o.requests++
	o.ttft = append(o.ttft, (s.First - s.Arrived).Seconds())
	if n := s.Generated(); n > 1 {
		o.tpot = append(o.tpot, (s.Last-s.First).Seconds()/float64(n-1))
	}
}

// meter adds the part of an iteration that lies in the window.
func (o *seen) meter(it Iteration, m *Machine, from, to, window time.Duration) {
	if to <= from {
		return
	}
	a, share := it.cost.activity(m), (to-from).Seconds()/window.Seconds()
	o.hardware.Busy += share * a.Busy
	o.hardware.SM += share * a.SM
	o.hardware.Tensor += share * a.Tensor
	o.hardware.DRAM += share * a.DRAM
}

// varied makes requests of input tokens, no two with a common prefix, and of answers
// of output tokens on average, evenly spread from half to one and a half of that: the
// streams do not march in step.
func varied(input, output int) func(int) Request {
	random := rand.New(rand.NewPCG(1, 2))
	return func(n int) Request { return exactly(prompt(input, uint32(n)), output/2+random.IntN(output+1)) }
}

// quantile is the smallest value that at least the share q of all do not exceed.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
