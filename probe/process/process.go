// Package process reports what this process uses and what it may use.
package process

import (
	"math"
	"runtime/metrics"
	"time"
)

// gcPauses is the runtime's histogram of how long garbage collections stopped the
// whole process.
const gcPauses = "/sched/pauses/total/gc:seconds"

// Pauses measures how long garbage collections have stopped this process. It
// belongs to one goroutine.
type Pauses struct {
	sample []metrics.Sample
	seen   []uint64 // counts of the histogram at the last call
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
	longest := 0.0
	for i, n := range h.Counts {
		if p.seen != nil && n > p.seen[i] {
			longest = h.Buckets[i+1]
			if math.IsInf(longest, 1) {
				longest = h.Buckets[i]
			}
		}
	}
	p.seen = append(p.seen[:0], h.Counts...)
	return time.Duration(longest * float64(time.Second))
}
