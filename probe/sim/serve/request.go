package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// maxBody bounds a request body; a prompt that fills any context is far smaller.
const maxBody = 32 << 20

// requestBody is what the engine reads of a request. Fields that it does not know
// are accepted and change nothing.
type requestBody struct {
	Model         string          `json:"model"`
	Messages      []messageBody   `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	Stream        bool            `json:"stream"`
	StreamOptions *struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"` // newer name, wins
	MinTokens           int      `json:"min_tokens"`
	IgnoreEOS           bool     `json:"ignore_eos"`
	Stop                stopBody `json:"stop"`
	N                   *int     `json:"n"`
	BestOf              *int     `json:"best_of"`
	Echo                bool     `json:"echo"`
	Seed                int64    `json:"seed"`
	CacheSalt           string   `json:"cache_salt"`
	Logprobs            any      `json:"logprobs"` // a switch in chat, a number in completions
	ResponseFormat      *struct {
		Type string `json:"type"`
	} `json:"response_format"`
	samplingBody
}

type messageBody struct {
	Role    string      `json:"role"`
	Content contentBody `json:"content"`
}

// readBody decodes a request and checks what both endpoints have in common.
func (s *API) readBody(w http.ResponseWriter, r *http.Request) (*requestBody, *apiError) {
	raw, e := readAll(w, r)
	if e != nil {
		return nil, e
	}
	b, e := parseBody(raw)
	if e != nil {
		return nil, e
	}
	if b.Model != "" && b.Model != s.modelID {
		return nil, &apiError{status: http.StatusNotFound, kind: "NotFoundError", code: http.StatusNotFound, param: "model",
			message: "The model `" + b.Model + "` does not exist; this engine serves `" + s.modelID + "`."}
	}
	return b, nil
}

func parseBody(raw []byte) (*requestBody, *apiError) {
	var b requestBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, decodeError(err)
	}
	return &b, b.check()
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e := badRequest("", "the request body is larger than %d MiB", maxBody>>20)
		e.status, e.code = http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge
		return nil, e
	}
	if err != nil {
		return nil, badRequest("", "the request body ended early: %v", err)
	}
	return raw, nil
}

// decodeError says which field has the wrong type, or that it is no JSON.
func decodeError(err error) *apiError {
	var wrong *json.UnmarshalTypeError
	var content *contentError
	switch {
	case errors.As(err, &content):
		return badRequest("messages", "messages: %v", content)
	case errors.As(err, &wrong) && wrong.Field != "":
		field := strings.TrimPrefix(wrong.Field, "samplingBody.")
		return badRequest(field, "%s has to be %s, not %s", field, typeName(wrong.Type), jsonTypeName(wrong.Value))
	case errors.As(err, &wrong):
		return badRequest("", "the request body has to be an object, not %s", jsonTypeName(wrong.Value))
	}
	return badRequest("", "the request body is not understood: %v", err)
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// jsonTypeName is for the decoder's words for what it found, such as "number 1.5".
func jsonTypeName(v string) string {
	kind, value, _ := strings.Cut(v, " ")
	switch kind {
	case "string":
		return "a text"
	case "number":
		return strings.TrimSpace("the number " + value)
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "true or false"
}

// check refuses what this engine cannot do, rather than answer something else.
func (b *requestBody) check() *apiError {
	switch {
	case b.N != nil && *b.N != 1:
		return badRequest("n", "n has to be 1: this engine makes one choice per request")
	case b.BestOf != nil && *b.BestOf != 1:
		return badRequest("best_of", "best_of has to be 1: this engine makes one choice per request")
	case b.Echo:
		return badRequest("echo", "echo is not available: this engine keeps no text of the prompt")
	case b.Logprobs != nil && b.Logprobs != false:
		return badRequest("logprobs", "logprobs are not available: this engine makes its words up")
	case b.ResponseFormat != nil && b.ResponseFormat.Type != "" && b.ResponseFormat.Type != "text":
		return badRequest("response_format", "response_format has to be text: this engine makes its words up")
	case b.StreamOptions != nil && !b.Stream:
		return badRequest("stream_options", "stream_options needs stream to be true")
	}
	for _, stop := range b.Stop {
		if stop == "" {
			return badRequest("stop", "stop has an empty text in it, which would end every answer at once")
		}
	}
	return b.samplingBody.check()
}
