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
	longestWait = time.Second // a failing server is asked on, once a second and stream
	refusedWait = time.Second // the server refused and did not say for how long
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
