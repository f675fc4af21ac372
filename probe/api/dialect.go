package api

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync/atomic"
)

// Call is one request to make.
type Call struct {
	Text      string          // the prompt
	Messages  json.RawMessage // instead of Text: a whole list of messages, sent as given
	MaxTokens int
	KeepText  bool // the Result holds the text of the answer
}

// dialect is what the server is known to accept. Fields that it refused once are
// not sent again.
type dialect struct {
	kind   Kind
	model  string
	engine string
	off    atomic.Uint32 // features the server refused
}

// feature is an optional part of a request body.
type feature uint32

const (
	maxTokensField feature = 1 << iota // max_tokens; without it max_completion_tokens
	streamOptions                      // stream_options.include_usage
	forceLength                        // the engine's own fields for an exact output length
)

// features lists how a server refuses each feature, and what follows from it.
var features = []struct {
	feature
	refusal *regexp.Regexp
	note    string
}{
	{
		maxTokensField,
		regexp.MustCompile(`(?is)max_completion_tokens|max_tokens.*` + refuses + `|` + refuses + `.*max_tokens`),
		"the server rejects max_tokens: max_completion_tokens is sent instead",
	},
	{
		streamOptions, regexp.MustCompile(`(?is)stream_options|include_usage`),
		"the server rejects stream_options, so it is not sent",
	},
	{
		forceLength, regexp.MustCompile(`(?is)ignore_eos|min_tokens|min_new_tokens`),
		"the server rejects ignore_eos or min_tokens, so they are not sent: answers may be shorter than requested",
	},
}

const refuses = `(?:unsupported|not supported|unrecognized|unknown|unexpected|extra|not permitted)`

// MinLength names the field for the least number of tokens, beside ignore_eos, of the
// engines that can be asked for an exact output length; "" if there is none. Other engines
// get neither: some refuse unknown fields.
var MinLength = map[string]string{
	"sonde-sim":    "min_tokens",
	"vllm":         "min_tokens",
	"sglang":       "min_tokens",
	"tensorrt_llm": "min_tokens",
	"nim":          "min_tokens",
	"llama.cpp":    "",
	"lmdeploy":     "min_new_tokens",
}

func (d *dialect) has(f feature) bool { return d.off.Load()&uint32(f) == 0 }

// body writes the request body. Keys come in a fixed order: with the same seed a
// run repeats its bodies byte by byte.
func (d *dialect) body(call Call) ([]byte, error) {
	var b []byte
	var err error
	add := func(name string, v any) {
		raw, failed := json.Marshal(v)
		err = errors.Join(err, failed)
		b = append(append(b, `,"`+name+`":`...), raw...)
	}
	add("model", d.model)
	d.addPrompt(call, add)
	if call.MaxTokens > 0 {
		name := "max_tokens"
		if !d.has(maxTokensField) {
			name = "max_completion_tokens"
		}
		add(name, call.MaxTokens)
	}
	add("stream", true)
	if d.has(streamOptions) {
		add("stream_options", map[string]bool{"include_usage": true})
	}
	if field, known := MinLength[d.engine]; known && d.has(forceLength) {
		add("ignore_eos", true)
		if field != "" {
			add(field, call.MaxTokens)
		}
	}
	b[0] = '{'
	return append(b, '}'), err
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d *dialect) addPrompt(call Call, add func(name string, v any)) {
	switch {
	case d.kind == Completions:
		add("prompt", call.Text)
	case len(call.Messages) > 0:
		add("messages", call.Messages)
	default:
		add("messages", []message{{"user", call.Text}})
	}
}

// refuse learns from a refusal (400, 422) which optional field the server does
// not take. It reports whether a request that was built without the features in off
// would look different now.
func (d *dialect) refuse(message string, off uint32) bool {
	for _, f := range features {
		if f.refusal.MatchString(message) {
			d.off.Or(uint32(f.feature))
			break
		}
	}
	return d.off.Load() != off
}

// dropped says what the server refused, for notes.
func (d *dialect) dropped() []string {
	var notes []string
	for _, f := range features {
		if !d.has(f.feature) {
			notes = append(notes, f.note)
		}
	}
	return notes
}
