package trace

import (
	"math/rand/v2"
	"time"

	"sonde/probe/arrivals"
)

// Adjustment says what to make of a trace before it is replayed.
type Adjustment struct {
	From  time.Duration // skip what comes before, in the time of the trace
	Scale float64       // times as many requests: a share of them below 1, copies above
	Speed float64       // times as fast
	Seed  uint64        // of what is chosen at random
}

// adjustStream numbers the random stream of adjustments.
const adjustStream = 1<<63 - 1

// jitter is the largest distance of a copy from its original, in the time of the trace: copies are other
// users who do much the same, and not one that asks twice.
const jitter = time.Second

// Apply adjusts a trace. A copy of a request shares its prompt with the copies of the
// others, and not with its original: more requests do not hit a prefix cache more often.
func (a Adjustment) Apply(t *arrivals.Trace) *arrivals.Trace {
	r := rand.New(rand.NewPCG(a.Seed, adjustStream))
	out := &arrivals.Trace{Name: t.Name, Empty: t.Empty}
	for _, req := range t.Arrivals {
		if req.At < a.From {
			continue
		}
		for copies := range a.times(r) {
			c := req
			if copies > 0 {
				c.At += time.Duration(r.Int64N(int64(jitter)))
				c.Blocks = renumbered(req.Blocks, copies)
			}
			out.Arrivals = append(out.Arrivals, c)
		}
	}
	begin(out)
	for i := range out.Arrivals {
		out.Arrivals[i].At = time.Duration(float64(out.Arrivals[i].At) / a.Speed)
	}
	return out
}

// times is how often a request is sent: Scale on average.
func (a Adjustment) times(r *rand.Rand) int {
	whole := int(a.Scale)
	if r.Float64() < a.Scale-float64(whole) {
		whole++
	}
	return whole
}

// renumbered are other blocks: the same for the same blocks and the same number of the copy.
func renumbered(blocks []uint64, number int) []uint64 {
	if blocks == nil {
		return nil
	}
	other := make([]uint64, len(blocks))
	for i, id := range blocks {
		other[i] = id ^ uint64(number)*0x9e3779b97f4a7c15 // the golden ratio: far from the small numbers of traces
	}
	return other
}
