package serve

import (
	"bytes"
	"encoding/json"
	"strings"

	"sonde/probe/sim/core"
)

// contentBody is a text, or a list of parts, all of which must be text.
type contentBody string

// UnmarshalJSON implements json.Unmarshaler.
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
			return badRequest("messages", "messages: only content parts of type text are supported, not %q", p.Type)
		}
		text.WriteString(p.Text)
	}
	*c = contentBody(text.String())
	return nil
}

// stopBody is one text or a list of texts.
type stopBody []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *stopBody) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		*s = make(stopBody, 1)
		return json.Unmarshal(b, &(*s)[0])
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// samplingBody has the parameters of sampling. They are checked, but have no effect:
// the words do not come from a distribution.
type samplingBody struct {
	Temperature       *float64 `json:"temperature"`
	TopP              *float64 `json:"top_p"`
	MinP              *float64 `json:"min_p"`
	PresencePenalty   *float64 `json:"presence_penalty"`
	FrequencyPenalty  *float64 `json:"frequency_penalty"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
}

// check applies the ranges of the OpenAI API and of vLLM.
func (b *samplingBody) check() *apiError {
	for _, p := range []struct {
		name      string
		value     *float64
		low, high float64
	}{
		{"temperature", b.Temperature, 0, 2},
		{"top_p", b.TopP, 0, 1},
		{"min_p", b.MinP, 0, 1},
		{"presence_penalty", b.PresencePenalty, -2, 2},
		{"frequency_penalty", b.FrequencyPenalty, -2, 2},
		{"repetition_penalty", b.RepetitionPenalty, 0, 2},
	} {
		if p.value != nil && (*p.value < p.low || *p.value > p.high) {
			return badRequest(p.name, "%s must be between %g and %g, not %g", p.name, p.low, p.high, *p.value)
		}
	}
	return nil
}

// messageTokens is the prompt of a chat.
func (b *requestBody) messageTokens() ([]uint32, *apiError) {
	if len(b.Messages) == 0 {
		return nil, badRequest("messages", "messages is missing or empty")
	}
	messages := make([]core.Message, len(b.Messages))
	for i, m := range b.Messages {
		messages[i] = core.Message{Role: m.Role, Text: string(m.Content)}
	}
	return core.ChatTokens(messages), nil
}

// promptTokens is the prompt of a plain completion: a text, a list of token ids, or
// a list that contains one of these.
func (b *requestBody) promptTokens() ([]uint32, *apiError) {
	prompt := b.Prompt
	var list []json.RawMessage
	if json.Unmarshal(prompt, &list) == nil && len(list) > 0 && list[0][0] != '-' && (list[0][0] < '0' || list[0][0] > '9') {
		if len(list) > 1 {
			return nil, badRequest("prompt", "prompt has %d entries: this engine takes one prompt per request", len(list))
		}
		prompt = list[0]
	}
	var text string
	var ids []uint32
	switch {
	case json.Unmarshal(prompt, &text) == nil:
		ids = core.AppendTokens(nil, text)
	case json.Unmarshal(prompt, &ids) == nil:
	case len(prompt) > 0:
		return nil, badRequest("prompt", "prompt must be a text or a list of token ids")
	}
	if len(ids) == 0 {
		return nil, badRequest("prompt", "prompt is missing or empty")
	}
	return ids, nil
}
