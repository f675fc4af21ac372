package api

import (
	"bytes"
	"cmp"
	"strings"
)

// chunk is what one JSON object of a stream, or a whole reply, says: for every dialect at
// once.
type chunk struct {
	bearing bearing
	finish  string // the finish reason of the first choice that has one
	answers bool   // it has the form of an answer
	whole   bool   // … of one that is not streamed
	ended   bool   // a native end mark
	usage   usage
	refusal refusal
	unread  string   // the first field whose value is not of a form that is understood
	extra   []member // fields that an ordinary chunk does not have
	data    value    // the whole object
}

// member is a field of an object.
type member struct {
	name  string
	value value
}

// bearing says which kinds of generated text a chunk carries.
type bearing struct {
	answer    bool // content, text, refusal, tool call
	reasoning bool

	said *[]value // where the pieces of the answer's text go, without tool calls; nil: not kept
}

func (b bearing) any() bool { return b.answer || b.reasoning }

// decoder reads chunks. It keeps its memory: ordinary chunks allocate nothing.
type decoder struct {
	cursor cursor
	chunk  chunk
	keep   bool    // chunks hold the text of the answer
	said   []value // that text
}

// decode reads the object in data; not ok if that is no whole object. The chunk is valid
// until the next call.
func (d *decoder) decode(data []byte) (c *chunk, ok bool) {
	c = &d.chunk
	*c = chunk{extra: c.extra[:0], data: bytes.TrimSpace(data)}
	if d.keep {
		d.said = d.said[:0]
		c.bearing.said = &d.said
	}
	in := &d.cursor
	*in = cursor{data: c.data}
	end := in.enter()
	for in.more(end) {
		c.field(in)
	}
	if end != '}' || in.cut || in.at != len(in.data) {
		return nil, false
	}
	if len(c.extra) > 0 {
		c.native()
		c.vendorUsage()
		c.refusal = c.findRefusal()
	}
	return c, true
}

func (c *chunk) field(in *cursor) {
	switch string(in.name) {
	case "choices":
		switch in.kind() {
		case '{': // one choice and not a list
			c.choice(in)
			return
		case '[', 'n':
		default:
			c.unread = "choices"
		}
		for end := in.enter(); in.more(end); {
			c.choice(in)
		}
	case "usage":
		c.readUsage(in.value())
	case "id", "created", "model", "system_fingerprint", "service_tier":
		in.value()
	default:
		name := in.name
		if v := in.value(); v != nil && string(name) != "object" || string(v) == `"error"` {
			c.extra = append(c.extra, member{string(name), v})
		}
	}
}

// get is a field that an ordinary chunk does not have.
func (c *chunk) get(name string) value {
	for _, m := range c.extra {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (c *chunk) choice(in *cursor) {
	c.answers = true
	for end := in.enter(); in.more(end); {
		switch string(in.name) {
		case "message": // in a whole reply
			c.whole = true
			c.delta(in)
		case "delta":
			c.delta(in)
		case "text": // completions
			c.bearing.text(in.value())
		case "finish_reason":
			c.setFinish(in.value())
		case "usage": // Moonshot
			c.readUsage(in.value())
		case "error": // OpenRouter
			if v := in.value(); v.says() {
				c.extra = append(c.extra, member{"error", v})
			}
		default:
			in.value()
		}
	}
}

// setFinish takes a finish reason, which SGLang's own endpoint writes as an object.
func (c *chunk) setFinish(v value) {
	if v == nil || c.finish != "" || string(v) == "false" || string(v) == `""` {
		return
	}
	if c.finish = cmp.Or(v.string(), v.get("type").string()); c.finish == "" {
		c.unread = "finish_reason"
	}
}

// delta looks for text.
func (c *chunk) delta(in *cursor) {
	b := &c.bearing
	switch in.kind() {
	case '"': // the text without an object around it
		b.content(in.value())
		return
	case '{', 'n':
	default:
		c.unread = "delta"
	}
	for end := in.enter(); in.more(end); {
		switch string(in.name) {
		case "content":
			b.content(in.value())
		case "refusal":
			b.text(in.value())
		case "reasoning_content", "reasoning", "thinking":
			b.reasoning = in.value().hasText() || b.reasoning
		case "tool_calls":
			for end := in.enter(); in.more(end); {
				b.function(in.value().get("function"))
			}
		case "function_call":
			b.function(in.value())
		case "usage":
			c.readUsage(in.value())
		default:
			in.value()
		}
	}
}

// text takes a piece of the answer.
func (b *bearing) text(v value) {
	if !v.hasText() {
		return
	}
	b.answer = true
	if b.said != nil {
		*b.said = append(*b.said, v)
	}
}

func (b *bearing) function(v value) {
	b.answer = b.answer || v.get("name").hasText() || v.get("arguments").hasText()
}

// content looks at content, which is a string or a list of typed parts.
func (b *bearing) content(v value) {
	if len(v) == 0 || v[0] != '[' {
		b.text(v)
		return
	}
	in := v.cursor()
	for end := in.enter(); in.more(end); {
		part := in.value()
		text, refusal := part.get("text"), part.get("refusal")
		if kind := part.get("type").string(); strings.Contains(kind, "reason") || strings.Contains(kind, "think") {
			b.reasoning = b.reasoning || text.hasText() || refusal.hasText()
		} else {
			b.text(text)
			b.text(refusal)
		}
		// Mistral nests the text of a thinking part once more, as a list.
		var nested bearing
		nested.content(part.get("thinking"))
		b.reasoning = b.reasoning || nested.any()
	}
}

// native reads the streams of engines' own endpoints, for servers that answer with them.
func (c *chunk) native() {
	if timings := c.get("timings"); timings != nil { // llama.cpp, beside the common form
		c.usage.engine(timings.get("prompt_n").count()+timings.get("cache_n").count(), timings.get("predicted_n").count())
		cached, ok := timings.get("cache_n").whole()
		c.usage.cached, c.usage.counted = max(c.usage.cached, cached), c.usage.counted || ok
	}
	c.ended = string(c.get("done")) == "true" // Ollama, and who copies it
	if c.answers {
		return
	}
	c.answers = true
	message, response, token := c.get("message"), c.get("response"), c.get("token")
	switch kind := c.get("type").string(); {
	case token != nil: // TGI: one token per event; special tokens are not part of the answer
		if string(token.get("special")) != "true" {
			c.bearing.text(token.get("text"))
		}
		details := c.get("details")
		c.setFinish(details.get("finish_reason"))
		c.usage.engine(details.get("input_length").count(), details.get("generated_tokens").count())
	case kind == "message.delta": // LM Studio: named events
		c.bearing.text(c.get("content"))
	case kind == "reasoning.delta":
		c.bearing.reasoning = c.get("content").hasText()
	case kind == "chat.end":
		c.ended = true
		stats := c.get("result").get("stats")
		c.usage.engine(stats.get("input_tokens").count(), stats.get("total_output_tokens").count())
	case response.isString() || message.get("content").isString(): // Ollama: the last object has the counts
		c.delta(message.cursor())
		c.bearing.text(response)
		c.bearing.reasoning = c.bearing.reasoning || c.get("thinking").hasText()
		c.setFinish(c.get("done_reason"))
		c.usage.engine(c.get("prompt_eval_count").count(), c.get("eval_count").count())
	default:
		c.answers = false
	}
}
