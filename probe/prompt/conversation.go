package prompt

import "encoding/json"

// Conversation is a session with a model, turn by turn: each prompt is the whole history, with
// the answers that the server gave, and a new message of the user. It belongs to one stream:
// it is not safe for use by several at once.
type Conversation struct {
	source Source
	most   int // turns
	turn   int // the newest; 0 before the first

	history []byte   // the messages so far, as a JSON list without its closing bracket
	tokens  int      // of the history, as far as anyone knows
	file    bool     // the messages are those of a file, and not synthetic
	left    [][]byte // of a file: what is said in the turns to come
	longest int      // output tokens set by the file; 0: the load decides
}

// NewConversation begins a conversation with a number of turns at most. What its user says
// comes from the source: a prompt for each turn or, from a file, its next conversation.
func NewConversation(source Source, turns int) *Conversation {
	return &Conversation{source: source, most: turns, history: []byte("[")}
}

// Next is the prompt of the next turn. Its new message has about the requested number of
// tokens. It is valid until Answered.
func (c *Conversation) Next(tokens int) Prompt {
	c.turn++
	p := Prompt{Tokens: tokens, history: c.tokens}
	if !c.file {
		made := c.source.Next(tokens)
		if c.file = made.shape.words == 0; c.file {
			c.left, c.longest = turnsOf(&made), made.MaxTokens
		} else {
			c.say(apiMessage{"user", made.Text}.json())
		}
		if c.turn == 1 { // the count of a later one is of the history too
			p.shape = made.shape
		}
	}
	if c.file {
		p.Tokens, p.MaxTokens = 0, c.longest
		c.say(c.left[0])
		c.left = c.left[1:]
	}
	p.Messages = append(c.history, ']')
	return p
}

// Turn is the number of the newest turn, from 1; 0 before the first.
func (c *Conversation) Turn() int { return c.turn }

// noText stands for an answer without text: a tool call, or only reasoning, which is not sent
// back. Some servers refuse an empty message, others two messages of the user in a row.
const noText = "(no text)"

// Answered adds the answer of the newest turn, with the server's counts of its tokens, 0 where
// there are none. It reports whether another turn follows.
func (c *Conversation) Answered(text string, inTokens, outTokens int) (more bool) {
	if text == "" {
		text = noText
	}
	c.say(apiMessage{"assistant", text}.json())
	if c.tokens = inTokens + outTokens; inTokens == 0 {
		c.tokens = len(c.history) / bytesPerToken
	}
	return c.turn < c.most && (!c.file || len(c.left) > 0)
}

// say adds messages to the history.
func (c *Conversation) say(messages []byte) {
	if len(c.history) > len("[") {
		c.history = append(c.history, ',')
	}
	c.history = append(c.history, messages...)
}

// turnsOf takes a file's conversation apart: what is said in each turn, as JSON messages with
// commas between them. Each message of the user ends a turn. The answers in the file are left
// out, as are the results of the tools that they call; the server gives its own. A greeting
// before the first message of the user stays.
func turnsOf(p *Prompt) (turns [][]byte) {
	if len(p.Messages) == 0 {
		return [][]byte{apiMessage{"user", p.Text}.json()}
	}
	var messages []json.RawMessage
	_ = json.Unmarshal(p.Messages, &messages) // it was checked when the file was read
	var said []byte
	for _, raw := range messages {
		var m message
		_ = json.Unmarshal(raw, &m)
		switch {
		case m.Role == "tool" || m.Role == "function", m.Role == "assistant" && len(turns) > 0:
			continue
		case len(said) > 0:
			said = append(said, ',')
		}
		said = append(said, raw...)
		if m.Role == "user" {
			turns, said = append(turns, said), nil
		}
	}
	if len(turns) == 0 { // nothing of a user: as it is
		turns = append(turns, p.Messages[1:len(p.Messages)-1])
	}
	return turns
}
