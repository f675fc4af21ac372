package api

import (
	"bytes"

	"encoding/json"
)

// quickChunk reads the ordinary chunk of a stream, one choice with a piece of text,
// without allocating. Anything unusual makes it give up, and the full decode decides: a finish reason, usage, tool calls, an error,
// several choices, a field that comes twice, names in capitals, JSON that is not
// perfectly formed. What it does accept, it reads as the full decode does.
type quickChunk struct {
	scanner
	seen   quickField
	chunk  chunk
	choice [1]choice
	delta  delta
}

// quickField is a set of fields, to notice one that comes twice.
type quickField uint16

const (
	quickChoices quickField = 1 << iota
	quickDelta
	quickText
	quickContent
	quickReasoningContent
	quickReasoning
	quickRefusal
)

// decode returns the chunk in data. It and the texts in it are valid until data
// changes or the next call.
func (p *quickChunk) decode(data []byte) (*chunk, bool) {
	p.scanner = scanner{data: data}
	p.seen = 0
	p.choice[0], p.delta = choice{}, delta{}
	if !p.object(topField) || !p.atEnd() || p.seen&quickChoices == 0 {
		return nil, false
	}
	p.chunk.Choices = p.choice[:]
	return &p.chunk, true
}

// first notes a field; false if it was there before.
func (p *quickChunk) first(f quickField) bool {
	again := p.seen&f != 0
	p.seen |= f
	return !again
}

// fieldFunc takes the value of one field; false gives the chunk up.
type fieldFunc func(p *quickChunk, name []byte) bool

// object goes through the fields of an object.
func (p *quickChunk) object(field fieldFunc) bool {
	if !p.take('{') {
		return false
	}
	if p.take('}') {
		return true
	}
	for {
		name, ok := p.name()
		if !ok || !p.take(':') || !field(p, name) {
			return false
		}
		if !p.take(',') {
			return p.take('}')
		}
	}
}

func topField(p *quickChunk, name []byte) bool {
	switch string(name) {
	case "choices":
		return p.first(quickChoices) && p.take('[') && p.object(choiceField) && p.take(']')
	case "object":
		value, ok := p.text()
		return ok && !bytes.Equal(value, []byte(`"error"`)) && bytes.IndexByte(value, '\\') < 0
	case "usage", "timings", "error":
		return p.null()
	case "type", "message", "detail", "code", "token", "response": // a flat error, or a native form
		return false
	}
	return p.skip(0)
}

func choiceField(p *quickChunk, name []byte) bool {
	switch string(name) {
	case "delta":
		p.choice[0].Delta = &p.delta
		return p.first(quickDelta) && p.object(deltaField)
	case "text":
		return p.first(quickText) && p.textOrNull(&p.choice[0].Text)
	case "finish_reason", "message":
		return p.null()
	}
	return p.skip(0)
}

func deltaField(p *quickChunk, name []byte) bool {
	switch string(name) {
	case "content":
		return p.first(quickContent) && p.textOrNull(&p.delta.Content)
	case "reasoning_content":
		return p.first(quickReasoningContent) && p.textOrNull(&p.delta.ReasoningContent)
	case "reasoning":
		return p.first(quickReasoning) && p.textOrNull(&p.delta.Reasoning)
	case "refusal":
		return p.first(quickRefusal) && p.textOrNull(&p.delta.Refusal)
	case "tool_calls", "function_call":
		return p.null()
	}
	return p.skip(0)
}

func (p *quickChunk) textOrNull(into *json.RawMessage) bool {
	if p.null() {
		return true
	}
	value, ok := p.text()
	*into = value
	return ok
}
