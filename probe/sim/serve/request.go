package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"sonde/probe/sim/core"
)

// maxBody bounds a request body; a prompt that fills any context is far smaller.
const maxBody = 32 << 20

// requestBody is what the engine reads from a request. Unknown fields are
// accepted and ignored.
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
	Tools               []any    `json:"tools"`
	ToolChoice          any      `json:"tool_choice"` // a word, or the tool to call
	Logprobs            any      `json:"logprobs"`    // a switch in chat, a number in completions
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
func (a *API) readBody(w http.ResponseWriter, r *http.Request) (*requestBody, *apiError) {
	var b requestBody
	if e := readJSON(w, r, &b); e != nil {
		return nil, e
	}
	if b.Model != "" {
		if e := a.checkModel(b.Model); e != nil {
			return nil, e
		}
	}
	return &b, b.check()
}

func readJSON(w http.ResponseWriter, r *http.Request, into any) *apiError {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return failure(http.StatusRequestEntityTooLarge, "the request body is larger than %d MiB", maxBody>>20)
	case err != nil:
		return badRequest("", "the request body ended early: %v", err)
	}
	return decode(raw, into)
}

// decode names the field that has the wrong type.
func decode(raw []byte, into any) *apiError {
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	var field *apiError // from one of our own types
	switch {
	case err == nil:
		return nil
	case errors.As(err, &field):
		return field
	case errors.As(err, &wrong) && wrong.Field != "":
		name := strings.TrimPrefix(wrong.Field, "samplingBody.")
		return badRequest(name, "%s cannot be a JSON %s", name, wrong.Value)
	case errors.As(err, &wrong):
		return badRequest("", "the request body cannot be a JSON %s", wrong.Value)
	}
	return badRequest("", "invalid JSON: %v", err)
}

// check refuses what this engine cannot do.
func (b *requestBody) check() *apiError {
	switch {
	case b.N != nil && *b.N != 1:
		return badRequest("n", "n must be 1: this engine gives one choice per request")
	case b.BestOf != nil && *b.BestOf != 1:
		return badRequest("best_of", "best_of must be 1: this engine gives one choice per request")
	case b.Echo:
		return badRequest("echo", "echo is not supported: this engine does not keep the text of the prompt")
	case b.Logprobs != nil && b.Logprobs != false:
		return badRequest("logprobs", "logprobs are not supported: this engine generates random words")
	case b.ResponseFormat != nil && b.ResponseFormat.Type != "" && b.ResponseFormat.Type != "text":
		return badRequest("response_format", "response_format must be text: this engine generates random words")
	case len(b.Tools) > 0 && b.ToolChoice != "none":
		return badRequest("tools", "tools with a tool_choice other than none are not supported: this engine has no parser for tool calls")
	case len(b.Tools) == 0 && b.ToolChoice != nil && b.ToolChoice != "none":
		return badRequest("tool_choice", "tool_choice needs tools")
	case b.StreamOptions != nil && !b.Stream:
		return badRequest("stream_options", "stream_options needs stream to be true")
	}
	for _, stop := range b.Stop {
		if stop == "" {
			return badRequest("stop", "stop contains an empty string, which would end every answer at once")
		}
	}
	return b.samplingBody.check()
}

// request checks lengths against the context. Without a limit of its own an answer
// may fill what the prompt leaves, or has the limit of the dialect.
func (b *requestBody) request(d *dialect, s *core.Setup) (core.Request, *apiError) {
	prompt, e := d.prompt(b)
	if e != nil {
		return core.Request{}, e
	}
	q := core.Request{Prompt: prompt, Salt: b.CacheSalt, MinTokens: b.MinTokens, IgnoreEOS: b.IgnoreEOS, Seed: uint64(b.Seed), Stops: b.Stop}
	if d.thought != "" {
		q.Reasoning = core.Reasoning(s.Reasoning)
	}
	room := s.MaxModelLen - len(prompt)
	name, limit := "max_completion_tokens", b.MaxCompletionTokens
	if limit == nil {
		name, limit = "max_tokens", b.MaxTokens
	}
	switch {
	case limit != nil:
		q.MaxTokens = *limit
	case d.maxTokens > 0:
		q.MaxTokens = d.maxTokens
	default:
		q.MaxTokens = max(1, room)
	}
	switch {
	case q.MaxTokens < 1:
		e = badRequest(name, "%s must be at least 1, not %d", name, q.MaxTokens)
	case q.MinTokens < 0 || q.MinTokens > q.MaxTokens:
		e = badRequest("min_tokens", "min_tokens must be between 0 and %s (%d), not %d", name, q.MaxTokens, q.MinTokens)
	case q.MaxTokens > room:
		e = badRequest("", "The maximum context length is %d tokens, but %d were requested: %d in the prompt and %d for the answer. Shorten one of them.",
			s.MaxModelLen, len(prompt)+q.MaxTokens, len(prompt), q.MaxTokens)
	}
	return q, e
}
