package sim

import (
	"encoding/json"
	"strconv"
)

// dialect is how the two endpoints spell the same answer.
type dialect struct {
	idPrefix    string
	object      string // of a whole answer
	chunkObject string
	opening     string // of the first chunk's choice, before any text; "" if there is none
	before      string // around a token's text
	after       string
	closing     string // of the chunk that carries the finish reason
}

var (
	chatDialect = dialect{
		idPrefix: "chatcmpl-", object: "chat.completion", chunkObject: "chat.completion.chunk",
		opening: `"delta":{"role":"assistant","content":""}`,
		before:  `"delta":{"content":"`, after: `"}`,
		closing: `"delta":{}`,
	}
	completionDialect = dialect{
		idPrefix: "cmpl-", object: "text_completion", chunkObject: "text_completion",
		before: `"text":"`, after: `"`,
		closing: `"text":""`,
	}
)

// chunks writes the events of one stream. Everything but the token is prepared
// once: there are tens of thousands of them a second.
type chunks struct {
	dialect
	head       string // of every event, up to its choices
	continuous bool   // usage on every chunk
	final      bool   // a usage chunk at the end
	seq        *sequence
	sent       int // tokens
}

func newChunks(d dialect, id, model string, created int64, seq *sequence) *chunks {
	head := `data: {"id":"` + id + `","object":"` + d.chunkObject + `","created":` + strconv.FormatInt(created, 10) + `,"model":"` + model + `","choices":[`
	return &chunks{dialect: d, head: head, seq: seq}
}

// append appends the events of some tokens, and of the end.
func (c *chunks) append(b []byte, words []uint16, end finish) []byte {
	if c.sent == 0 && c.opening != "" {
		b = append(append(b, c.head...), `{"index":0,`...)
		b = c.endChoice(append(b, c.opening...), finishNone)
	}
	for _, w := range words {
		b = append(append(b, c.head...), `{"index":0,`...)
		b = appendWord(append(b, c.before...), w, c.sent)
		c.sent++
		b = c.endChoice(append(b, c.after...), finishNone)
	}
	if end == finishNone {
		return b
	}
	b = append(append(b, c.head...), `{"index":0,`...)
	b = c.endChoice(append(b, c.closing...), end)
	if c.final {
		b = append(append(b, c.head...), ']')
		b = append(c.appendUsage(b), "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

func (c *chunks) endChoice(b []byte, end finish) []byte {
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if end == finishNone {
		b = append(b, `null}]`...)
	} else {
		b = append(append(append(b, '"'), end...), `"}]`...)
	}
	if c.continuous {
		b = c.appendUsage(b)
	}
	return append(b, "}\n\n"...)
}

func (c *chunks) appendUsage(b []byte) []byte {
	u := usageOf(c.seq, c.sent)
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Total), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Completion), 10)
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Details.Cached), 10)
	return append(b, "}}"...)
}

// errorEvents is how a stream ends when the engine does.
func errorEvents(e *apiError) []byte {
	body, err := json.Marshal(e.body())
	if err != nil {
		return nil
	}
	return append(append([]byte("data: "), body...), "\n\ndata: [DONE]\n\n"...)
}
