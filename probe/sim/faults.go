package sim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Faults are what goes wrong on request. The zero value is a healthy server.
// Shares are of requests, 0 to 1, drawn with the engine's seed.
type Faults struct {
	RateLimited float64 // answered 429 with Retry-After: 1
	Unavailable float64 // answered 503
	StreamError float64 // streams that end with an error after a few tokens, inside a 200
	Cut         float64 // streams whose connection is cut after a few tokens

	Stall      time.Duration // the engine stands still for so long …
	StallEvery time.Duration // … each time this has passed since the last stall
	Clump      int           // tokens that leave together, as behind a buffering proxy; 0 and 1: each by itself
}

// ParseFaults reads a list such as "429=0.1,503=0.05,error=0.02,cut=0.02,stall=1s/10s,clump=8".
func ParseFaults(list string) (Faults, error) {
	var f Faults
	if list == "" {
		return f, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := f.set(name, value); err != nil {
			return Faults{}, fmt.Errorf("simulated engine: fault %q: %w", part, err)
		}
	}
	return f, f.check()
}

func (f *Faults) set(name, value string) (err error) {
	switch name {
	case "429":
		f.RateLimited, err = strconv.ParseFloat(value, 64)
	case "503":
		f.Unavailable, err = strconv.ParseFloat(value, 64)
	case "error":
		f.StreamError, err = strconv.ParseFloat(value, 64)
	case "cut":
		f.Cut, err = strconv.ParseFloat(value, 64)
	case "clump":
		f.Clump, err = strconv.Atoi(value)
	case "stall":
		pause, every, _ := strings.Cut(value, "/")
		if f.Stall, err = time.ParseDuration(pause); err == nil {
			f.StallEvery, err = time.ParseDuration(every)
		}
	default:
		err = fmt.Errorf("there are 429=SHARE, 503=SHARE, error=SHARE, cut=SHARE, stall=LENGTH/INTERVAL and clump=TOKENS")
	}
	return err
}

func (f *Faults) check() error {
	sum := 0.0
	for _, share := range []float64{f.RateLimited, f.Unavailable, f.StreamError, f.Cut} {
		if !(share >= 0) { // also NaN
			return fmt.Errorf("simulated engine: a share of faults cannot be %g", share)
		}
		sum += share
	}
	switch {
	case sum > 1:
		return fmt.Errorf("simulated engine: the shares of faults add up to %g, which is more than all requests", sum)
	case f.Clump < 0 || f.Stall < 0 || f.Stall > 0 && f.StallEvery <= 0:
		return fmt.Errorf("simulated engine: a stall needs a length and an interval, a clump a number of tokens")
	}
	return nil
}

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
func (f *Faults) fateOf(n, seed uint64) fate {
	const longestBeforeBreak = 16
	random := rand.New(rand.NewPCG(seed, n))
	u, breakAt := random.Float64(), 1+random.IntN(longestBeforeBreak)
	for _, c := range []struct {
		share float64
		fate  fate
	}{
		{f.RateLimited, fate{refusal: &apiError{http.StatusTooManyRequests, "RateLimitError", "rate_limit_exceeded", "too many requests (a simulated fault)"}}},
		{f.Unavailable, fate{refusal: &apiError{http.StatusServiceUnavailable, "ServiceUnavailableError", http.StatusServiceUnavailable, "the service is overloaded (a simulated fault)"}}},
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

var errStreamFault = &apiError{http.StatusInternalServerError, "InternalServerError", http.StatusInternalServerError, "the engine failed while generating (a simulated fault)"}
