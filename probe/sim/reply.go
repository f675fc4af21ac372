package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is an answer other than 200, in the form of the OpenAI API.
type apiError struct {
	status  int
	kind    string // "type" in the body
	code    any    // a word, or the status
	message string
}

func badRequest(format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "BadRequestError", http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

var errNotRunning = &apiError{http.StatusServiceUnavailable, "ServiceUnavailableError", http.StatusServiceUnavailable, "the engine is not running"}

func (e *apiError) body() map[string]any {
	return map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "param": nil, "code": e.code}}
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1") // seconds
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
	Prompt     int         `json:"prompt_tokens"`
	Total      int         `json:"total_tokens"`
	Completion int         `json:"completion_tokens"`
	Details    usageDetail `json:"prompt_tokens_details"`
}

type usageDetail struct {
	Cached int `json:"cached_tokens"`
}

// usageOf is valid once the first token has come: only then is the number of
// cached tokens known.
func usageOf(s *sequence, completion int) usage {
	return usage{len(s.prompt), len(s.prompt) + completion, completion, usageDetail{s.cached}}
}
