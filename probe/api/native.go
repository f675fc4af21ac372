package api

import "github.com/goccy/go-json"

// native are the streams of engines' own endpoints, for servers that answer with
// them: Ollama's /api/chat and /api/generate, TGI's /generate_stream, LM Studio's
// /api/v1/chat.
type native struct {
	// Ollama: durations apart, the last object has the counts.
	Message    *delta          `json:"message"`
	Response   json.RawMessage `json:"response"`
	Done       bool            `json:"done"`
	DoneReason json.RawMessage `json:"done_reason"`
	PromptN    int             `json:"prompt_eval_count"`
	OutputN    int             `json:"eval_count"`

	// TGI: one token an event, special ones without text of the answer.
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
