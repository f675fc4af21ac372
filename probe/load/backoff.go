package load

import (
	"time"

	"sonde/probe/api"
	"sonde/probe/measure"
)

// backOff decides how long a worker waits after a request that did not succeed,
// so that a failing server sees no storm of retries.
type backOff struct {
	failures int // in a row
}

const (
	firstWait   = 100 * time.Millisecond
	refusedWait = time.Second // the server refused and did not say for how long
	loadingWait = time.Second
	longestWait = 10 * time.Second
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
	wait := firstWait
	if res.Class == measure.RateLimited {
		wait = refusedWait
	}
	wait = min(wait<<min(b.failures-1, 10), longestWait)
	return max(wait, res.RetryAfter)
}
