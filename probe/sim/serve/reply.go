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
	kind       string // "type" in the body
	code       any    // a word, or the status
	param      string // the field that is wrong; "" if none is
	message    string
	retryAfter int // seconds; 0 is not said
}

// badRequest refuses a request for one of its fields; "" if for none.
func badRequest(field, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "BadRequestError", code: http.StatusBadRequest,
		param: field, message: fmt.Sprintf(format, args...)}
}

func unavailable(message string) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, kind: "ServiceUnavailableError", code: http.StatusServiceUnavailable, message: message}
}

var errNotRunning = unavailable("the engine is not running")

func (e *apiError) body() map[string]any {
	var param any
	if e.param != "" {
		param = e.param
	}
	return map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "param": param, "code": e.code}}
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	writeJSON(w, e.status, e.body())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // cannot happen with the types of this package
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone needs no answer
}

// usage counts the tokens of a request.
type usage struct {
	Prompt     int              `json:"prompt_tokens"`
	Total      int              `json:"total_tokens"`
	Completion int              `json:"completion_tokens"` // with those of reasoning
	Details    promptDetail     `json:"prompt_tokens_details"`
	Answer     *completionShare `json:"completion_tokens_details,omitempty"`
}

type promptDetail struct {
	Cached int `json:"cached_tokens"`
}

type completionShare struct {
	Reasoning int `json:"reasoning_tokens"`
}

// newUsage is valid once the first token has come: only then is the number of
// cached tokens known.
func newUsage(s *core.Sequence, completion int) usage {
	u := usage{Prompt: len(s.Prompt), Total: len(s.Prompt) + completion, Completion: completion, Details: promptDetail{s.Cached}}
	if s.Reasoning > 0 {
		u.Answer = &completionShare{min(completion, s.Thinking)}
	}
	return u
}

// fate is what happens to one request.
type fate struct {
	refusal *apiError // instead of an answer
	breakAt int       // tokens after which a stream breaks; 0: it does not
	cut     bool      // it breaks without a word
}

// breaksWithin tells whether a stream breaks off before it has more than n
// tokens; one that would end sooner breaks off there.
func (f fate) breaksWithin(n int, end core.FinishReason) bool {
	return f.breakAt > 0 && (n >= f.breakAt || end != core.Unfinished)
}

// drawFate draws for the n-th request.
func drawFate(f faults.Faults, n, seed uint64) fate {
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
