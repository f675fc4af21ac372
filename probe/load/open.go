package load

import (
	"context"
	"math/rand/v2"
	"runtime"
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

// startPacer begins the schedule of arrivals. p.mu is held.
func (p *Pool) startPacer() {
	gen := p.pacerGen
	pace := newPacer(p.rateSince, p.now(), p.setting.Schedule(), p.setting.Arrivals, rand.New(rand.NewPCG(p.opt.Seed, pacerStream)))
	ctx := p.ctx
	p.spawn(func() { p.pace(ctx, func() (due, bool) { return due{Arrival: pace.next()}, true }, gen) })
}

// pace lets arrivals come when they are due, until next has no more, or something else is
// requested.
func (p *Pool) pace(ctx context.Context, next func() (due, bool), gen int) {
	for {
		d, ok := next()
		if !ok || !p.await(ctx, d.At) || !p.arrive(d, gen) {
			return
		}
	}
}

// napFor is how much before its time an arrival is waited for with a nap.
const napFor = 2 * time.Millisecond

// await waits until an arrival is due; false if the context ended first.
func (p *Pool) await(ctx context.Context, at time.Duration) bool {
	if !p.opt.Exact {
		return sleepUntil(ctx, at-p.now())
	}
	if !sleepUntil(ctx, at-p.now()-napFor) {
		return false
	}
	// What has just begun goes first: a thread that sleeps keeps its processor for a while.
	runtime.Gosched()
	nap(at - p.now())
	return true
}

// keptReady is how many arrivals that wait keep the prompts that were made for them.
const keptReady = 64

// arrive takes one scheduled arrival: it begins at once if the cap allows, else
// it waits for a slot, its latency counting from the schedule.
func (p *Pool) arrive(d due, gen int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed || gen != p.pacerGen:
		return false
	case p.now()-d.At > stoppedFor: // this process did not run when it was due
		if p.trace != nil {
			p.trace.state.Missed++
		}
		return true
	case p.budget == 0 || p.setting.Concurrency == 0: // no load now; the schedule goes on and nothing is made up for later
		p.leaveOut(1)
		return true
	case p.now() < p.heldUntil: // the server asked for no requests now
		p.leftOut++
		p.leaveOut(1)
		return true
	case len(p.waiting) >= maxBacklog:
		p.leaveOut(1)
		return true
	}
	d.capped = p.running >= p.setting.Concurrency
	if len(p.waiting) >= keptReady {
		d.made = nil
	}
	p.waiting = append(p.waiting, d)
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
// times, so that a late arrival delays no other. A process with gaps of mean 1 becomes one
// of any rate by a change of time: arrival n comes when n arrivals are expected to have come.
type pacer struct {
	since time.Duration // when the rate began
	rate  arrivals.Rate
	gaps  arrivals.Process
	rng   *rand.Rand
	count float64 // arrivals that are expected up to the next one
}

// newPacer begins a schedule at the given instant, of a rate that began at another. Constant
// arrivals begin at the start, random ones after a first gap.
func newPacer(since, start time.Duration, rate arrivals.Rate, gaps arrivals.Process, rng *rand.Rand) *pacer {
	p := &pacer{since: since, rate: rate, gaps: gaps, rng: rng, count: rate.Count(start - since)}
	if gaps != arrivals.Constant {
		p.count += gaps.Gap(rng)
	}
	return p
}

// next is the next arrival.
func (p *pacer) next() arrivals.Arrival {
	at := p.since + p.rate.When(p.count)
	p.count += p.gaps.Gap(p.rng)
	return arrivals.Arrival{At: at}
}
