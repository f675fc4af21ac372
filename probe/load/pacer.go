package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// pacer is an open loop's schedule of arrivals: pure arithmetic on absolute
// times, so that a late arrival delays no other.
type pacer struct {
	rate    float64 // requests per second
	poisson bool
	rng     *rand.Rand

	anchor time.Duration // constant: arrival k comes at anchor + k/rate
	count  uint64
	last   time.Duration
}

// newPacer begins a schedule at the given instant.
func newPacer(start time.Duration, rate float64, poisson bool, rng *rand.Rand) *pacer {
	return &pacer{rate: rate, poisson: poisson, rng: rng, anchor: start, last: start}
}

// next is the instant of the next arrival. Constant arrivals begin at the
// start; Poisson arrivals have exponential gaps of mean 1/rate.
func (p *pacer) next() time.Duration {
	if p.poisson {
		p.last += time.Duration(p.rng.ExpFloat64() / p.rate * float64(time.Second))
		return p.last
	}
	at := p.anchor + time.Duration(math.Round(float64(p.count)/p.rate*float64(time.Second)))
	p.count++
	return at
}
