package api

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"encoding/json"
)

// Call is one request to make.
type Call struct {
	Text      string          // the prompt
	Messages  json.RawMessage // instead of Text: a whole list of messages, sent as given
	MaxTokens int
}

// dialect is what the server is known to accept. Fields that it refused once are
// not sent again.
type dialect struct {
	kind  Kind
	model string
	force lengthFields
	off   atomic.Uint32 // features the server refused
}

// feature is an optional part of a request body.
type feature uint32

const (
	maxTokensField feature = 1 << iota // max_tokens; without it max_completion_tokens
	streamOptions                      // stream_options.include_usage
	forceLength                        // the engine's own fields for an exact output length
)

// lengthFields names the fields that make an engine produce exactly the requested
// number of tokens.
type lengthFields struct {
	ignoreEOS bool
	minField  string // field for the least number of tokens, "" if there is none
}

// forcing lists the engine kinds that accept such fields. Others get none: some refuse
// unknown fields.
var forcing = map[string]lengthFields{
	"sonde-sim":    {true, "min_tokens"},
	"vllm":         {true, "min_tokens"},
	"sglang":       {true, "min_tokens"},
	"tensorrt_llm": {true, "min_tokens"},
	"nim":          {true, "min_tokens"},
	"llama.cpp":    {true, ""},
	"lmdeploy":     {true, "min_new_tokens"},
}

func (d *dialect) has(f feature) bool { return d.off.Load()&uint32(f) == 0 }

// body writes the request body. Keys come in a fixed order: with the same seed a
// run repeats its bodies byte by byte.
func (d *dialect) body(call Call) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range d.fields(call) {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.name + `":`)
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type bodyField struct {
	name  string
	value any
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d *dialect) fields(call Call) []bodyField {
	fields := []bodyField{{"model", d.model}, d.promptField(call)}
	if call.MaxTokens > 0 {
		name := "max_tokens"
		if !d.has(maxTokensField) {
			name = "max_completion_tokens"
		}
		fields = append(fields, bodyField{name, call.MaxTokens})
	}
	fields = append(fields, bodyField{"stream", true})
	if d.has(streamOptions) {
		fields = append(fields, bodyField{"stream_options", map[string]bool{"include_usage": true}})
	}
	if d.has(forceLength) && d.force.ignoreEOS {
		fields = append(fields, bodyField{"ignore_eos", true})
		if d.force.minField != "" {
			fields = append(fields, bodyField{d.force.minField, call.MaxTokens})
		}
	}
	return fields
}

func (d *dialect) promptField(call Call) bodyField {
	switch {
	case d.kind == Completions:
		return bodyField{"prompt", call.Text}
	case len(call.Messages) > 0:
		return bodyField{"messages", call.Messages}
	}
	return bodyField{"messages", []message{{"user", call.Text}}}
}

// refuse learns from a refusal (400, 422) which optional field the server does
// not take. It reports whether a request that was built without the features in off
// would look different now.
func (d *dialect) refuse(message string, off uint32) bool {
	if f := refusedFeature(strings.ToLower(message)); f != 0 {
		d.off.Or(uint32(f))
	}
	return d.off.Load() != off
}

func refusedFeature(lower string) feature {
	switch {
	case strings.Contains(lower, "max_completion_tokens") || (strings.Contains(lower, "max_tokens") && refuses(lower)):
		return maxTokensField
	case strings.Contains(lower, "stream_options") || strings.Contains(lower, "include_usage"):
		return streamOptions
	case strings.Contains(lower, "ignore_eos") || strings.Contains(lower, "min_tokens") || strings.Contains(lower, "min_new_tokens"):
		return forceLength
	}
	return 0
}

func refuses(lower string) bool {
	for _, word := range []string{"unsupported", "not supported", "unrecognized", "unknown", "unexpected", "extra", "not permitted"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// dropped names what the server refused, for a note.
func (d *dialect) dropped() []string {
	var names []string
	for _, f := range []struct {
		feature
		note string
	}{
		{maxTokensField, "the server rejects max_tokens: max_completion_tokens is sent instead"},
		{streamOptions, "the server rejects stream_options, so it is not sent: token counts may be estimates"},
		{forceLength, "the server rejects ignore_eos or min_tokens, so they are not sent: answers may be shorter than requested"},
	} {
		if !d.has(f.feature) {
			names = append(names, f.note)
		}
	}
	return names
}

// ForcedKinds are the engines that can be asked for an exact output length.
func ForcedKinds() []string { return slices.Sorted(maps.Keys(forcing)) }
