package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"sonde/probe/engine"
)

// tokenizer says how an engine counts the tokens of a prompt. What it has no way
// for stays nil: a count without the template around a chat would be too small.
type tokenizer struct {
	plain, chat []question // asked one after the other; the last answer holds the count
}

// question is one POST. Its body is made of the prompt, or of what the question
// before it has brought; read takes the answer apart.
type question struct {
	path string
	body func(model, prompt string) any
	read func(answer any) (text string, tokens int)
}

// tokenizers are the engines that count without generating (their sources, 2026).
var tokenizers = map[string]tokenizer{
	simKind.id:  counting,
	vllmKind.id: counting,
	nimKind.id:  counting,
	sglangKind.id: {
		plain: []question{{"/tokenize", promptBody, countField("count")}},
	},
	llamacppKind.id: {
		plain: []question{{"/tokenize", contentBody, lengthOf("tokens")}},
		chat: []question{
			{"/apply-template", messagesBody, templated},
			{"/tokenize", contentBody, lengthOf("tokens")},
		},
	},
	tgiKind.id: {
		plain: []question{{"/tokenize", func(_, prompt string) any { return map[string]any{"inputs": prompt} }, lengthOf("")}},
		chat:  []question{{"/chat_tokenize", messagesBody, lengthOf("tokenize_response")}},
	},
	lmdeployKind.id: {
		plain: []question{{"/v1/encode", func(_, prompt string) any { return map[string]any{"input": prompt} }, countField("length")}},
	},
}

// counting is vLLM's form: one path for both.
var counting = tokenizer{
	plain: []question{{"/tokenize", promptBody, countField("count")}},
	chat:  []question{{"/tokenize", messagesBody, countField("count")}},
}

func promptBody(model, prompt string) any { return map[string]any{"model": model, "prompt": prompt} }

func messagesBody(model, prompt string) any {
	return map[string]any{"model": model, "messages": []map[string]string{{"role": "user", "content": prompt}}}
}

// contentBody is llama.cpp's; special tokens count as they do in a request.
func contentBody(_, prompt string) any {
	return map[string]any{"content": prompt, "add_special": true, "parse_special": true}
}

// countField reads a number.
func countField(key string) func(any) (string, int) {
	return func(answer any) (string, int) {
		o, _ := answer.(map[string]any)
		return "", orKeep(object(o).number(key), 0)
	}
}

// lengthOf reads a list of tokens: a field, or the answer itself.
func lengthOf(key string) func(any) (string, int) {
	return func(answer any) (string, int) {
		if o, is := answer.(map[string]any); is && key != "" {
			answer = o[key]
		}
		tokens, _ := answer.([]any)
		return "", len(tokens)
	}
}

// templated reads the text that the engine would put a chat into.
func templated(answer any) (string, int) {
	o, _ := answer.(map[string]any)
	return object(o).text("prompt"), 0
}

// CountTokens asks the engine's own tokenizer how many tokens a prompt has, as a
// chat message with the template around it or as plain text. It generates
// nothing. It is not ok if the engine has no such tokenizer or does not answer.
func CountTokens(ctx context.Context, c Config, id engine.Identity, prompt string, chat bool) (tokens int, ok bool) {
	questions := tokenizers[id.Kind].plain
	if chat {
		questions = tokenizers[id.Kind].chat
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for _, q := range questions {
		answer, ok := newFetcher(c).post(ctx, q.path, q.body(id.Model, prompt))
		if !ok {
			return 0, false
		}
		if prompt, tokens = q.read(answer); prompt == "" && tokens == 0 {
			return 0, false
		}
	}
	return tokens, tokens > 0
}

// post sends JSON with the user's headers and returns the JSON that comes back.
func (f fetcher) post(ctx context.Context, path string, body any) (answer any, ok bool) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.config.withQuery(f.config.rootAt(path)), bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	f.addHeader(req, call{address: f.config.rootAt(path), withKey: true})
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&answer) != nil {
		return nil, false
	}
	return answer, true
}
