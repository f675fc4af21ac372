package load

import (
	"context"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/measure"
)

// A large raise does not start at one instant: hundreds of handshakes would stand
// in each other's way, and the streams would march in step ever after.
const (
	togetherAtMost = 16 // workers that one change starts at once
	staggerBy      = 500 * time.Microsecond
)

// stagger is when the nth of the workers that one change starts begins, from 0.
func stagger(nth int) time.Duration {
	return time.Duration(max(0, nth-togetherAtMost+1)) * staggerBy
}

// startWorker begins a closed-loop worker on a free slot, after a delay: it sends one
// request after the other for as long as the load asks for it. p.mu is held.
func (p *Pool) startWorker(delay time.Duration) {
	ctx := p.ctx
	p.begin(false, func(s *stream) (left bool) {
		return sleepUntil(ctx, delay) && p.work(ctx, s)
	})
}

// work reports whether the stream has left the load, or still has to.
func (p *Pool) work(ctx context.Context, s *stream) (left bool) {
	var back backOff
	for {
		j, ok := p.next(ctx, s)
		if !ok {
			return true
		}
		if wait := back.after(p.request(s, j)); wait <= 0 {
			if p.think(ctx, s) {
				return true
			}
		} else if !p.pause(ctx, s, wait) {
			return false
		}
	}
}

// next is a worker's next request. A worker that is one too many, because the load was
// lowered, gets none and leaves in the same step.
func (p *Pool) next(ctx context.Context, s *stream) (job, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || p.closed || p.budget == 0 || p.tooMany() {
		p.leave(s)
		return job{}, false
	}
	return p.claim(due{Arrival: arrivals.Arrival{At: p.now()}}), true
}

// tooMany reports whether the closed loop has more workers than it is to have. p.mu is held.
func (p *Pool) tooMany() bool { return p.running > p.setting.Concurrency || p.setting.Rate > 0 }

// backOff decides how long a worker waits after a request that did not succeed,
// so that a failing server is not flooded with retries.
type backOff struct {
	failures int // in a row
}

const (
	firstWait   = 100 * time.Millisecond
	longestWait = time.Second // a failing server gets one request per second and stream
	refusedWait = time.Second // without a Retry-After
	loadingWait = time.Second

	longestRefusedWait = 10 * time.Second
)

func (b *backOff) after(res api.Result) time.Duration {
	switch res.Class {
	case measure.OK, measure.Cancelled:
		b.failures = 0
		return 0
	case measure.Loading:
		return max(loadingWait, res.RetryAfter)
	}
	b.failures++
	wait, longest := firstWait, longestWait
	if res.Class == measure.RateLimited {
		wait, longest = refusedWait, longestRefusedWait
	}
	return max(min(wait<<min(b.failures-1, 10), longest), res.RetryAfter)
}
