package api

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"
)

// chunk is one JSON object of a stream, or a whole reply: only the fields that
// are needed, for every dialect at once.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Timings *timings        `json:"timings"`
	Error   json.RawMessage `json:"error"`

	// Flat forms of an error.
	Object  string          `json:"object"`
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Code    json.RawMessage `json:"code"`

	ended bool // a native end mark
}

type choice struct {
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"` // in a whole reply
	Text    json.RawMessage `json:"text"`    // completions
	Finish  json.RawMessage `json:"finish_reason"`
}

// delta holds the texts raw: whether there is text is all that matters.
type delta struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Refusal          json.RawMessage `json:"refusal"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"`
}

type toolCall struct {
	Function *function `json:"function"`
}

type function struct {
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type usage struct {
	Prompt            int `json:"prompt_tokens"`
	Completion        int `json:"completion_tokens"`
	Reasoning         int `json:"reasoning_tokens"` // SGLang: at the top level
	CompletionDetails *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptDetails *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// timings are llama.cpp's own counts, on the last chunk.
type timings struct {
	PromptN    int `json:"prompt_n"`
	CacheN     int `json:"cache_n"`
	PredictedN int `json:"predicted_n"`
}

func (u *usage) reasoning() int {
	if u.CompletionDetails != nil && u.CompletionDetails.Reasoning > 0 {
		return u.CompletionDetails.Reasoning
	}
	return u.Reasoning
}

func (u *usage) cached() int {
	if u.PromptDetails == nil {
		return 0
	}
	return u.PromptDetails.Cached
}

func decodeChunk(data []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	if err == nil && c.Choices == nil && c.Usage == nil {
		c.fromNative(data)
	}
	return c, err
}

// bearing says which kinds of generated text a chunk carries.
type bearing struct {
	answer    bool // content, text, refusal, tool call
	reasoning bool
}

func (b bearing) any() bool { return b.answer || b.reasoning }

func (c *chunk) bearing() bearing {
	var b bearing
	for i := range c.Choices {
		ch := &c.Choices[i]
		b.answer = b.answer || hasText(ch.Text)
		b.add(ch.Delta)
		b.add(ch.Message)
	}
	return b
}

func (b *bearing) add(d *delta) {
	if d == nil {
		return
	}
	parts := contentBearing(d.Content)
	b.answer = b.answer || parts.answer || hasText(d.Refusal) || d.callsTool()
	b.reasoning = b.reasoning || parts.reasoning || hasText(d.ReasoningContent) || hasText(d.Reasoning)
}

func (d *delta) callsTool() bool {
	if d.FunctionCall.hasText() {
		return true
	}
	for _, call := range d.ToolCalls {
		if call.Function.hasText() {
			return true
		}
	}
	return false
}

func (f *function) hasText() bool {
	return f != nil && (hasText(f.Name) || hasText(f.Arguments))
}

// hasText reports whether raw JSON is a non-empty string. Some servers send tool
// arguments as an object: that is text too.
func hasText(raw json.RawMessage) bool {
	switch {
	case len(raw) == 0 || raw[0] == 'n': // null
		return false
	case raw[0] == '"':
		return len(raw) > 2
	}
	return raw[0] == '{'
}

// contentBearing looks at content, which is a string or a list of typed parts.
func contentBearing(raw json.RawMessage) bearing {
	if len(raw) == 0 || raw[0] != '[' {
		return bearing{answer: hasText(raw)}
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Refusal  json.RawMessage `json:"refusal"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return bearing{}
	}
	var b bearing
	for _, p := range parts {
		thinking := strings.Contains(p.Type, "reason") || strings.Contains(p.Type, "think")
		text := hasText(p.Text) || hasText(p.Refusal)
		b.answer = b.answer || (text && !thinking)
		// Mistral nests the text of a thinking part once more, as a list.
		b.reasoning = b.reasoning || (text && thinking) || hasText(p.Thinking) || nestedText(p.Thinking)
	}
	return b
}

func nestedText(raw json.RawMessage) bool {
	return len(raw) > 0 && raw[0] == '[' && contentBearing(raw).any()
}

// finish is the finish reason of the first choice that has one; "" if none has.
func (c *chunk) finish() string {
	for i := range c.Choices {
		if s := stringOf(c.Choices[i].Finish); s != "" {
			return s
		}
	}
	return ""
}

// stringOf reads a JSON string; anything else, numbers apart, is "".
func stringOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if raw[0] == '{' || raw[0] == '[' {
		return ""
	}
	return string(raw)
}

// native are the streams of engines' own endpoints, for servers that answer with
// them: Ollama's /api/chat and /api/generate, TGI's /generate_stream, LM Studio's
// /api/v1/chat.
type native struct {
	// Ollama: the last object has the counts.
	Message    *delta          `json:"message"`
	Response   json.RawMessage `json:"response"`
	Done       bool            `json:"done"`
	DoneReason json.RawMessage `json:"done_reason"`
	PromptN    int             `json:"prompt_eval_count"`
	OutputN    int             `json:"eval_count"`

	// TGI: one token per event; special tokens are not part of the answer.
	Token *struct {
		Text    json.RawMessage `json:"text"`
		Special bool            `json:"special"`
	} `json:"token"`
	Details *struct {
		Finish    json.RawMessage `json:"finish_reason"`
		Generated int             `json:"generated_tokens"`
		Input     int             `json:"input_length"`
	} `json:"details"`

	// LM Studio: named events.
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
	Result  *struct {
		Stats struct {
			Input  int `json:"input_tokens"`
			Output int `json:"total_output_tokens"`
		} `json:"stats"`
	} `json:"result"`
}

// fromNative turns an object without choices into the common form, if it is one
// of those.
func (c *chunk) fromNative(data []byte) {
	var n native
	if json.Unmarshal(data, &n) != nil {
		return
	}
	ch := choice{Finish: n.DoneReason}
	switch {
	case n.Token != nil:
		if !n.Token.Special {
			ch.Text = n.Token.Text
		}
		if n.Details != nil {
			ch.Finish = n.Details.Finish
			c.Usage = &usage{Prompt: n.Details.Input, Completion: n.Details.Generated}
		}
	case n.Type == "message.delta":
		ch.Text = n.Content
	case n.Type == "reasoning.delta":
		ch.Delta = &delta{Reasoning: n.Content}
	case n.Type == "chat.end":
		c.ended = true
		if n.Result != nil {
			c.Usage = &usage{Prompt: n.Result.Stats.Input, Completion: n.Result.Stats.Output}
		}
	case n.Message != nil || n.Response != nil:
		ch.Delta, ch.Text = n.Message, n.Response
		if n.Done {
			c.Usage = &usage{Prompt: n.PromptN, Completion: n.OutputN}
		}
	default:
		return
	}
	c.Choices = []choice{ch}
}
