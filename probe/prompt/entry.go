package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// entry is one prompt as data sets and batch files write it. Fields of the same name in
// other files may be of any type, so they stay raw until they are needed.
type entry struct {
	Body          json.RawMessage `json:"body"`          // a line of an OpenAI batch file: the request
	Messages      json.RawMessage `json:"messages"`      // the chat API
	Conversations json.RawMessage `json:"conversations"` // ShareGPT
	Conversation  json.RawMessage `json:"conversation"`
	Prompt        json.RawMessage `json:"prompt"`      // the completions API
	Instruction   json.RawMessage `json:"instruction"` // Alpaca, with an optional input
	Input         json.RawMessage `json:"input"`       // the responses API
	Question      json.RawMessage `json:"question"`
	Text          json.RawMessage `json:"text"`

	// The longest answer, under its names in the APIs.
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
	MaxOutputTokens     int `json:"max_output_tokens"`
}

var errNoPrompt = errors.New(`needs "prompt" (a string), "messages" (a list), or "conversations" (ShareGPT)`)

// parseObject reads one JSON object as a prompt.
func parseObject(data []byte) (Prompt, error) {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		return Prompt{}, fmt.Errorf("invalid JSON: %w", err)
	}
	if len(e.Body) > 0 && e.Body[0] == '{' {
		return parseObject(e.Body)
	}
	if min(e.MaxTokens, e.MaxCompletionTokens, e.MaxOutputTokens) < 0 {
		return Prompt{}, errors.New("max_tokens cannot be negative")
	}
	p, err := e.prompt()
	p.MaxTokens = max(e.MaxTokens, e.MaxCompletionTokens, e.MaxOutputTokens)
	return p, err
}

// prompt reads the first field that holds a prompt.
func (e *entry) prompt() (Prompt, error) {
	for _, list := range []json.RawMessage{e.Messages, e.Conversations, e.Conversation} {
		if given(list) {
			return parseMessages(list)
		}
	}
	if given(e.Instruction) {
		return e.instruction()
	}
	for _, field := range []json.RawMessage{e.Prompt, e.Input, e.Question, e.Text} {
		if given(field) {
			return parseText(field)
		}
	}
	return Prompt{}, errNoPrompt
}

// instruction joins an instruction and what it applies to.
func (e *entry) instruction() (Prompt, error) {
	p, err := parseText(e.Instruction)
	if err != nil || !given(e.Input) {
		return p, err
	}
	input, err := parseText(e.Input)
	if err != nil || p.Messages != nil || input.Messages != nil {
		return Prompt{}, errors.New(`"instruction" and "input" must be strings`)
	}
	p.Text = strings.TrimRight(p.Text+"\n\n"+input.Text, "\n")
	return p, nil
}

func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// parseText reads a string, or the list of messages that some data sets keep in its place.
func parseText(data json.RawMessage) (Prompt, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return Prompt{Text: text}, nil
	}
	if data[0] == '[' {
		return parseMessages(data)
	}
	return Prompt{}, errNoPrompt
}

// message is what is checked of a chat message. from and value are ShareGPT's names.
type message struct {
	Role  string `json:"role"`
	From  string `json:"from"`
	Value string `json:"value"`
}

// apiMessage is a message that we write.
type apiMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (m apiMessage) json() []byte {
	data, _ := json.Marshal(m) // strings can always be written
	return data
}

// shareGPTRoles are the speakers of ShareGPT files under their names in the API.
var shareGPTRoles = map[string]string{
	"human": "user", "user": "user", "system": "system",
	"gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "model": "assistant", "assistant": "assistant",
}

// parseMessages reads a list of chat messages. Those of the API are sent as given. A ShareGPT
// conversation holds the answers too: it is sent up to the last thing that its user said.
func parseMessages(data json.RawMessage) (Prompt, error) {
	var list []message
	if err := json.Unmarshal(data, &list); err != nil {
		return Prompt{}, fmt.Errorf("not a list of messages: %w", err)
	}
	var said []apiMessage
	end := 0 // of said, after the last message of the user
	for i, m := range list {
		role := shareGPTRoles[m.From]
		switch {
		case m.Role != "" && len(said) == 0:
			continue // the API's
		case role == "" || i != len(said):
			return Prompt{}, fmt.Errorf("message %d has no known role", i+1)
		}
		said = append(said, apiMessage{role, m.Value})
		if role == "user" {
			end = i + 1
		}
	}
	switch {
	case len(list) == 0:
		return Prompt{}, errors.New("the list of messages is empty")
	case len(said) == 0:
		return Prompt{Messages: bytes.Clone(data)}, nil
	case end == 0:
		return Prompt{}, errors.New("the conversation has no message of its user")
	}
	messages, err := json.Marshal(said[:end])
	return Prompt{Messages: messages}, err
}
