package process

import (
	"math"
	"runtime/metrics"
	"time"
)

// gcPauses is the runtime's histogram of how long collections of garbage stopped
// the whole process.
const gcPauses = "/sched/pauses/total/gc:seconds"

// Pauses tells how long collections of garbage have stopped this process. It
// belongs to one goroutine.
type Pauses struct {
	sample []metrics.Sample
	seen   []uint64
}

// NewPauses begins to count from now.
func NewPauses() *Pauses {
	p := &Pauses{sample: []metrics.Sample{{Name: gcPauses}}}
	p.Longest()
	return p
}

// Longest is the longest pause since the last call, rounded up to the bound of
// the runtime's bucket; 0 if there was none.
func (p *Pauses) Longest() time.Duration {
	metrics.Read(p.sample)
	if p.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := p.sample[0].Value.Float64Histogram()
	first := p.seen == nil
	if first {
		p.seen = make([]uint64, len(h.Counts))
	}
	longest := 0.0
	for i, n := range h.Counts {
		if n > p.seen[i] {
			longest = h.Buckets[i+1]
			if math.IsInf(longest, 1) {
				longest = h.Buckets[i]
			}
		}
		p.seen[i] = n
	}
	if first {
		return 0
	}
	return time.Duration(longest * float64(time.Second))
}
