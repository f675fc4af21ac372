package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// apiError is an answer other than 200, in the nested form of the OpenAI API and
// of vLLM.
type apiError struct {
	status     int
	code       string // "": the status
	param      string // the field that is wrong; "" if none is
	message    string
	retryAfter int // seconds; 0: none
}

// kinds are the types of errors in the body.
var kinds = map[int]string{
	http.StatusBadRequest: "BadRequestError", http.StatusNotFound: "NotFoundError", http.StatusMethodNotAllowed: "MethodNotAllowed",
	http.StatusRequestEntityTooLarge: "BadRequestError", http.StatusTooManyRequests: "RateLimitError",
	http.StatusInternalServerError: "InternalServerError", http.StatusServiceUnavailable: "ServiceUnavailableError",
}

func failure(status int, format string, args ...any) *apiError {
	return &apiError{status: status, message: fmt.Sprintf(format, args...)}
}

// badRequest refuses a request because of one of its fields; "" if because of none.
func badRequest(field, format string, args ...any) *apiError {
	e := failure(http.StatusBadRequest, format, args...)
	e.param = field
	return e
}

var errNotRunning = failure(http.StatusServiceUnavailable, "the engine is not running")

// Error implements error.
func (e *apiError) Error() string { return e.message }

func (e *apiError) body() map[string]any {
	var code any = e.status
	if e.code != "" {
		code = e.code
	}
	return map[string]any{"error": map[string]any{"message": e.message, "type": kinds[e.status], "param": orNull(e.param), "code": code}}
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	writeJSON(w, e.status, e.body())
}

// writeJSON always returns nil, the error of a handler that has answered.
func writeJSON(w http.ResponseWriter, status int, v any) *apiError {
	b, err := json.Marshal(v)
	if err != nil { // cannot happen with the types of this package
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone needs no answer
	return nil
}

// orNull is a text in JSON, null if it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// appendUsage appends the counts of a request's tokens in JSON. It is valid once the
// first token has come: only then is the number of cached tokens known.
func appendUsage(b []byte, s *core.Sequence, completion int) []byte {
	b = strconv.AppendInt(append(b, `{"prompt_tokens":`...), int64(len(s.Prompt)), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(len(s.Prompt)+completion), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(completion), 10) // with those of reasoning
	b = strconv.AppendInt(append(b, `,"prompt_tokens_details":{"cached_tokens":`...), int64(s.Cached), 10)
	if s.Reasoning > 0 {
		b = append(b, `},"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(min(completion, s.Thinking)), 10)
	}
	return append(b, "}}"...)
}

// fate is what happens to one request.
type fate struct {
	refusal *apiError // instead of an answer
	breakAt int       // tokens after which a stream breaks; 0: it does not
	cut     bool      // its connection is cut, without an error
	cache   string    // the replica whose prefix cache it finds; "" of all
}

// breaksWithin reports whether a stream breaks off before it has more than n
// tokens; one that would end sooner breaks off there.
func (f fate) breaksWithin(n int, end core.FinishReason) bool {
	return f.breakAt > 0 && (n >= f.breakAt || end != core.Unfinished)
}

// drawFate draws for the n-th request.
func drawFate(f faults.Faults, n, seed uint64) fate {
	const longestBeforeBreak = 16
	random := rand.New(rand.NewPCG(seed, n))
	u, breakAt := random.Float64(), 1+random.IntN(longestBeforeBreak)
	cache := ""
	if f.Scatter > 1 {
		cache = "replica " + strconv.Itoa(random.IntN(f.Scatter)) + " "
	}
	for _, c := range []struct {
		share float64
		fate  fate
	}{
		{f.RateLimited, fate{refusal: rateLimited(f.RetryAfter)}},
		{f.Unavailable, fate{refusal: failure(http.StatusServiceUnavailable, "the service is overloaded (a simulated fault)")}},
		{f.StreamError, fate{breakAt: breakAt}},
		{f.Cut, fate{breakAt: breakAt, cut: true}},
	} {
		if u < c.share {
			c.fate.cache = cache
			return c.fate
		}
		u -= c.share
	}
	return fate{cache: cache}
}

// rateLimited says when to come again, in the whole seconds of Retry-After.
func rateLimited(wait time.Duration) *apiError {
	e := failure(http.StatusTooManyRequests, "too many requests (a simulated fault)")
	e.code, e.retryAfter = "rate_limit_exceeded", max(1, int(math.Ceil(wait.Seconds())))
	return e
}
