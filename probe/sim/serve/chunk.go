package serve

import (
	"encoding/json"
	"strconv"

	"sonde/probe/sim/core"
)

// dialect is how an endpoint writes an answer.
type dialect struct {
	idPrefix    string
	object      string // of a whole answer
	chunkObject string
	opening     string // of the first chunk's choice, before any text; "": none
	thought     string // around a token's text, if it is reasoning; "": the endpoint has none
	before      string // around a token's text
	after       string
	empty       string // of the chunk that carries the finish reason, if it has no text
	maxTokens   int    // of an answer without a limit of its own, as the API defines it; 0: the rest of the context
	prompt      func(*requestBody) ([]uint32, *apiError)
}

var (
	chatDialect = dialect{
		idPrefix: "chatcmpl-", object: "chat.completion", chunkObject: "chat.completion.chunk",
		opening: `"delta":{"role":"assistant","content":""}`,
		thought: `"delta":{"reasoning_content":"`,
		before:  `"delta":{"content":"`, after: `"}`,
		empty: `"delta":{}`, prompt: (*requestBody).messageTokens,
	}
	completionDialect = dialect{
		idPrefix: "cmpl-", object: "text_completion", chunkObject: "text_completion",
		before: `"text":"`, after: `"`,
		empty: `"text":""`, maxTokens: 16, prompt: (*requestBody).promptTokens,
	}
)

// chunks writes the events of one stream. All except the token is prepared once:
// there are tens of thousands of them a second. A token whose text is held
// back, because a stop string may begin with it, has a chunk without text.
type chunks struct {
	*dialect
	head       string // of every event, up to its choice
	bare       string // the same without a choice
	continuous bool   // usage on every chunk
	final      bool   // a usage chunk at the end
	seq        *core.Sequence
	text       core.Transcript
}

func newChunks(d *dialect, id, model string, created int64, seq *core.Sequence) *chunks {
	bare := `data: {"id":"` + id + `","object":"` + d.chunkObject + `","created":` + strconv.FormatInt(created, 10) + `,"model":"` + model + `","choices":[`
	return &chunks{dialect: d, head: bare + `{"index":0,`, bare: bare, seq: seq, text: core.NewTranscript(seq)}
}

// sent is the number of tokens so far.
func (c *chunks) sent() int { return c.text.N }

// append appends the events of some tokens, and of the end.
func (c *chunks) append(b []byte, words []uint16, end core.FinishReason) []byte {
	if c.sent() == 0 && c.opening != "" {
		b = append(append(b, c.head...), c.opening...)
		b = c.endChoice(b, core.Unfinished)
	}
	for i := 0; i < len(words); {
		b, i = c.appendChunk(b, words, i)
	}
	if end == core.Unfinished {
		return b
	}
	b = append(b, c.head...)
	if rest := c.text.Rest(); len(rest) > 0 {
		b = append(append(append(b, c.before...), rest...), c.after...)
	} else {
		b = append(b, c.empty...)
	}
	b = c.endChoice(b, end)
	if c.final {
		b = append(append(b, c.bare...), ']')
		b = append(c.appendUsage(b), "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// appendChunk appends one event with the words from i on that the engine generated in
// one step, and returns the index of the next. Reasoning and answer do not share one.
func (c *chunks) appendChunk(b []byte, words []uint16, i int) ([]byte, int) {
	reasons := c.text.Reasons()
	b = append(b, c.head...)
	if reasons {
		b = append(b, c.thought...)
	} else {
		b = append(b, c.before...)
	}
	for more := true; more; i++ {
		b = c.text.Append(b, words[i]&^joined)
		more = words[i]&joined != 0 && c.text.Reasons() == reasons
	}
	return c.endChoice(append(b, c.after...), core.Unfinished), i
}

func (c *chunks) endChoice(b []byte, end core.FinishReason) []byte {
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if end == core.Unfinished {
		b = append(b, `null}]`...)
	} else {
		b = append(append(append(b, '"'), end...), `","stop_reason":`...)
		reason, _ := json.Marshal(orNull(c.text.Found)) // cannot fail
		b = append(append(b, reason...), `}]`...)
	}
	if c.continuous {
		b = c.appendUsage(b)
	}
	return append(b, "}\n\n"...)
}

func (c *chunks) appendUsage(b []byte) []byte {
	return appendUsage(append(b, `,"usage":`...), c.seq, c.sent())
}

// errorEvents ends a stream with an error.
func errorEvents(e *apiError) []byte {
	body, err := json.Marshal(e.body())
	if err != nil {
		return nil
	}
	return append(append([]byte("data: "), body...), "\n\ndata: [DONE]\n\n"...)
}
