package kinds

import (
	"context"
	"strings"
)

// Asker sends a few requests to the engine, none of them a prompt.
type Asker interface {
	Ask(ctx context.Context, path string, body any) (Object, bool) // a POST if there is a body
	ModelEntry(ctx context.Context, model string) Object           // of the model list
	Labels(ctx context.Context, family string) []map[string]string // of a metric's series
}

// Tokenizer says how an engine counts the tokens of a prompt. What it cannot count stays
// nil: a count without the chat's template would be too small.
type Tokenizer struct {
	Plain, Chat []Question // asked one after the other; the last response holds the count
}

// Question is one POST. Its body is made of the prompt, or of the text that the question
// before it returned; Read parses the response.
type Question struct {
	Path string
	Body func(model, prompt string) any
	Read func(response any) (text string, tokens int)
}

// vllmTokenizer has one path for both.
var vllmTokenizer = Tokenizer{
	Plain: []Question{{"/tokenize", promptBody, countField("count")}},
	Chat:  []Question{{"/tokenize", messagesBody, countField("count")}},
}

func promptBody(model, prompt string) any { return map[string]any{"model": model, "prompt": prompt} }

func messagesBody(model, prompt string) any {
	return map[string]any{"model": model, "messages": []map[string]string{{"role": "user", "content": prompt}}}
}

// countField reads a number.
func countField(key string) func(any) (string, int) {
	return func(response any) (string, int) {
		o, _ := response.(map[string]any)
		return "", OrKeep(Object(o).Number(key), 0)
	}
}

// lengthOf reads a list of tokens: a field, or the response itself.
func lengthOf(key string) func(any) (string, int) {
	return func(response any) (string, int) {
		if o, is := response.(map[string]any); is && key != "" {
			response = o[key]
		}
		tokens, _ := response.([]any)
		return "", len(tokens)
	}
}

// bitsOf is the width of a type by its name: fp8_e4m3, int8, bfloat16; 0 if the name does
// not say.
func bitsOf(dtype string) int {
	switch dtype = strings.ToLower(dtype); {
	case strings.HasPrefix(dtype, "fp8"), strings.HasPrefix(dtype, "int8"), strings.HasPrefix(dtype, "float8"):
		return 8
	case dtype == "bfloat16", dtype == "float16", dtype == "half", dtype == "bf16", dtype == "fp16":
		return 16
	}
	return 0
}
