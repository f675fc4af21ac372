package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
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

// usageOf is valid once the first token has come: only then is the number of
// cached tokens known.
func usageOf(s *sequence, completion int) usage {
	u := usage{Prompt: len(s.prompt), Total: len(s.prompt) + completion, Completion: completion, Details: promptDetail{s.cached}}
	if s.reasoning > 0 {
		u.Answer = &completionShare{min(completion, s.thinking)}
	}
	return u
}
