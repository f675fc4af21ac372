package load

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// pacerStream numbers the random stream of the arrivals, apart from those of
// the prompts, which count from 0.
const pacerStream = 1 << 63

// maxBacklog bounds the arrivals that wait under the cap. Past it the schedule
// is hopeless, and further ones are dropped.
const maxBacklog = 100_000

// stoppedFor is how late the schedule may run before we conclude that this process
// was stopped, and drop what was due meanwhile: sent all at once it would be a load that
// nobody requested.
const stoppedFor = 500 * time.Millisecond

// startPacer begins the schedule of arrivals at the present rate. p.mu is held.
func (p *Pool) startPacer() {
	gen := p.pacerGen
	pace := newPacer(p.now(), p.setting.Rate, p.setting.Poisson, rand.New(rand.NewPCG(p.opt.Seed, pacerStream)))
	ctx := p.ctx
	p.spawn(func() { p.pace(ctx, pace, gen) })
}

func (p *Pool) pace(ctx context.Context, pace *pacer, gen int) {
	for {
		at := pace.next()
		if !sleepUntil(ctx, at-p.now()) {
			return
		}
		if p.now()-at > stoppedFor {
			continue // this process did not run when it was due
		}
		if !p.arrive(at, gen) {
			return
		}
	}
}

// arrive takes one scheduled arrival: it begins at once if the cap allows, else
// it waits for a slot, its latency counting from the schedule.
func (p *Pool) arrive(at time.Duration, gen int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || gen != p.pacerGen {
		return false
	}
	if p.budget == 0 || p.setting.Concurrency == 0 {
		return true // no load now; the schedule goes on and nothing is made up for later
	}
	if p.now() < p.heldUntil {
		p.leftOut++
		return true // the server asked for no requests now
	}
	if len(p.waiting) < maxBacklog {
		p.waiting = append(p.waiting, at)
	}
	p.fill()
	return true
}

// startOpen begins one open-loop request. p.mu is held.
func (p *Pool) startOpen(j job) {
	p.begin(false, func(s *stream) {
		res := p.request(s, j)
		p.holdBack(j.ctx, s, res.RetryAfter)
	})
}

// holdBack keeps this request's place under the cap taken for as long as the
// server asked to wait. What is due meanwhile is skipped: sent
// afterwards it would be a burst of our own making.
func (p *Pool) holdBack(ctx context.Context, s *stream, d time.Duration) {
	if d <= 0 {
		return
	}
	p.mu.Lock()
	p.heldUntil = max(p.heldUntil, p.now()+d)
	p.mu.Unlock()
	p.pause(ctx, s, d)
}

// sleepUntil waits; false if the context ended first.
func sleepUntil(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

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
