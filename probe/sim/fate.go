package sim

import (
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"sonde/probe/sim/faults"
)

// fate is what happens to one request.
type fate struct {
	refusal *apiError // instead of an answer
	breakAt int       // tokens after which a stream breaks; 0: it does not
	cut     bool      // it breaks without a word
}

// breaksWithin tells whether a stream breaks off before it has more than n
// tokens; one that would end sooner breaks off there.
func (f fate) breaksWithin(n int, end finish) bool {
	return f.breakAt > 0 && (n >= f.breakAt || end != finishNone)
}

// fateOf draws for the n-th request.
func fateOf(f faults.Faults, n, seed uint64) fate {
	const longestBeforeBreak = 16
	random := rand.New(rand.NewPCG(seed, n))
	u, breakAt := random.Float64(), 1+random.IntN(longestBeforeBreak)
	for _, c := range []struct {
		share float64
		fate  fate
	}{
		{f.RateLimited, fate{refusal: rateLimited(f.RetryAfter)}},
		{f.Unavailable, fate{refusal: unavailable("the service is overloaded (a simulated fault)")}},
		{f.StreamError, fate{breakAt: breakAt}},
		{f.Cut, fate{breakAt: breakAt, cut: true}},
	} {
		if u < c.share {
			return c.fate
		}
		u -= c.share
	}
	return fate{}
}

// rateLimited says when to come again, in the whole seconds of Retry-After.
func rateLimited(wait time.Duration) *apiError {
	return &apiError{
		status: http.StatusTooManyRequests, kind: "RateLimitError", code: "rate_limit_exceeded",
		message: "too many requests (a simulated fault)", retryAfter: max(1, int(math.Ceil(wait.Seconds()))),
	}
}

var (
	errStreamFault = &apiError{status: http.StatusInternalServerError, kind: "InternalServerError", code: http.StatusInternalServerError,
		message: "the engine failed while generating (a simulated fault)"}
	errLoading = unavailable("the model is still loading (a simulated fault)")
)
