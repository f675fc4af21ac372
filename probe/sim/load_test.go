package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// closedLoop is a load of so many streams, each of which sends its next request when
// its answer is complete.
type closedLoop struct {
	streams int
	ask     func(n int) ask // of the n-th request
	warmup  time.Duration   // before what is measured
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
	hardware         activity
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
	b.onYield = func(y yield) {
		out.note(y, from)
		if y.end != finishNone {
			next()
		}
	}
	b.onIteration = func(it iteration) { out.meter(it, &b.core.gpu, max(from, it.start), min(to, it.end), l.window) }
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

func (o *seen) note(y yield, from time.Duration) {
	s := y.seq
	if s.last <= from {
		return
	}
	o.outputPerS += float64(len(y.words))
	if !y.first {
		o.gaps = append(o.gaps, y.gap.Seconds())
	}
	if y.end == finishNone {
		return
	}
	o.perS++
	o.e2e += (s.last - s.arrived).Seconds()
	if s.arrived < from {
		return
	}
	o.requests++
	o.ttft = append(o.ttft, (s.first - s.arrived).Seconds())
	if n := s.generated(); n > 1 {
		o.tpot = append(o.tpot, (s.last-s.first).Seconds()/float64(n-1))
	}
}

// meter adds the part of an iteration that lies in the window.
func (o *seen) meter(it iteration, m *machine, from, to, window time.Duration) {
	if to <= from {
		return
	}
	a, share := it.cost.activity(m), (to-from).Seconds()/window.Seconds()
	o.hardware.busy += share * a.busy
	o.hardware.sm += share * a.sm
	o.hardware.tensor += share * a.tensor
	o.hardware.dram += share * a.dram
}

// varied makes requests of input tokens, no two with a common prefix, and of answers
// of output tokens on average, evenly spread from half to one and a half of that: the
// streams do not march in step.
func varied(input, output int) func(int) ask {
	random := rand.New(rand.NewPCG(1, 2))
	return func(n int) ask { return exactly(prompt(input, uint32(n)), output/2+random.IntN(output+1)) }
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

func names[T any](all []T, nameOf func(T) string) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = nameOf(v)
	}
	return out
}
