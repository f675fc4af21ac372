package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request body; a prompt that fills any context is far smaller.
const maxBody = 32 << 20

// requestBody is what the engine reads of a request. Sampling parameters and
// stop strings are accepted and change nothing; so do fields that it does not know.
type requestBody struct {
	Model         string          `json:"model"`
	Messages      []messageBody   `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	MaxTokens           *int   `json:"max_tokens"`
	MaxCompletionTokens *int   `json:"max_completion_tokens"` // newer name, wins
	MinTokens           int    `json:"min_tokens"`
	IgnoreEOS           bool   `json:"ignore_eos"`
	N                   *int   `json:"n"`
	Seed                int64  `json:"seed"`
	CacheSalt           string `json:"cache_salt"`
}

type messageBody struct {
	Role    string      `json:"role"`
	Content contentBody `json:"content"`
}

// contentBody is a text, or a list of parts of which only texts are understood.
type contentBody string

func (c *contentBody) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c)) // null leaves it empty
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return errors.New("only content parts of type text are understood")
		}
		text.WriteString(p.Text)
	}
	*c = contentBody(text.String())
	return nil
}

// readBody decodes a request and checks what both endpoints have in common.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (*requestBody, *apiError) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e := badRequest("the request body is larger than %d MiB", maxBody>>20)
		e.status, e.code = http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge
		return nil, e
	}
	if err != nil {
		return nil, badRequest("the request body ended early: %v", err)
	}
	var b requestBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, badRequest("the request body is not understood: %v", err)
	}
	if b.Model != "" && b.Model != s.modelID {
		return nil, &apiError{http.StatusNotFound, "NotFoundError", http.StatusNotFound,
			"The model `" + b.Model + "` does not exist; this engine serves `" + s.modelID + "`."}
	}
	if b.N != nil && *b.N != 1 {
		return nil, badRequest("n has to be 1: this engine makes one choice per request")
	}
	return &b, nil
}

// messageTokens is the prompt of a chat.
func (b *requestBody) messageTokens() ([]uint32, *apiError) {
	if len(b.Messages) == 0 {
		return nil, badRequest("messages is missing or empty")
	}
	messages := make([]message, len(b.Messages))
	for i, m := range b.Messages {
		messages[i] = message{m.Role, string(m.Content)}
	}
	return chatTokens(messages), nil
}

// promptTokens is the prompt of a plain completion: a text, a list with one
// text, or a list of token ids.
func (b *requestBody) promptTokens() ([]uint32, *apiError) {
	var text string
	var texts []string
	var ids []uint32
	switch {
	case json.Unmarshal(b.Prompt, &text) == nil:
		ids = appendTokens(nil, text)
	case json.Unmarshal(b.Prompt, &texts) == nil && len(texts) == 1:
		ids = appendTokens(nil, texts[0])
	case json.Unmarshal(b.Prompt, &ids) == nil:
	default:
		return nil, badRequest("prompt has to be one text or a list of token ids")
	}
	if len(ids) == 0 {
		return nil, badRequest("prompt is missing or empty")
	}
	return ids, nil
}

// ask checks lengths against the context. Without a limit of its own an answer
// may fill what the prompt leaves, or fallback tokens if that is not 0.
func (b *requestBody) ask(prompt []uint32, context, fallback int) (ask, *apiError) {
	a := ask{prompt: prompt, salt: b.CacheSalt, minTokens: b.MinTokens, ignoreEOS: b.IgnoreEOS, seed: uint64(b.Seed)}
	limit := b.MaxCompletionTokens
	if limit == nil {
		limit = b.MaxTokens
	}
	switch {
	case limit != nil:
		a.maxTokens = *limit
	case fallback > 0:
		a.maxTokens = fallback
	default:
		a.maxTokens = max(1, context-len(prompt))
	}
	if a.maxTokens < 1 {
		return ask{}, badRequest("max_tokens has to be at least 1, not %d", a.maxTokens)
	}
	if a.minTokens < 0 || a.minTokens > a.maxTokens {
		return ask{}, badRequest("min_tokens has to be between 0 and max_tokens (%d), not %d", a.maxTokens, a.minTokens)
	}
	if len(prompt)+a.maxTokens > context {
		e := badRequest("The maximum context length is %d tokens, but %d were requested: %d in the prompt and %d for the answer. Shorten one of them.",
			context, len(prompt)+a.maxTokens, len(prompt), a.maxTokens)
		e.code = "context_length_exceeded"
		return ask{}, e
	}
	return a, nil
}
