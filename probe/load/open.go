package load

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"sonde/probe/arrivals"
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
	pace := newPacer(p.now(), p.setting.Rate, p.setting.Arrivals, rand.New(rand.NewPCG(p.opt.Seed, pacerStream)))
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
	p.begin(false, func(s *stream) (left bool) {
		res := p.request(s, j)
		p.holdBack(j.ctx, s, res.RetryAfter)
		return false
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
	start time.Duration
	rate  float64 // requests per second
	gaps  arrivals.Process
	rng   *rand.Rand
	count float64 // gaps of mean 1 up to the next arrival
}

// newPacer begins a schedule at the given instant. Constant arrivals begin at the start,
// random ones after a first gap.
func newPacer(start time.Duration, rate float64, gaps arrivals.Process, rng *rand.Rand) *pacer {
	p := &pacer{start: start, rate: rate, gaps: gaps, rng: rng}
	if gaps != arrivals.Constant {
		p.count = gaps.Gap(rng)
	}
	return p
}

// next is the instant of the next arrival.
func (p *pacer) next() time.Duration {
	at := p.start + time.Duration(math.Round(p.count/p.rate*float64(time.Second)))
	p.count += p.gaps.Gap(p.rng)
	return at
}
