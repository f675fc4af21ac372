package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// tokenizers are the engines whose POST /tokenize counts a whole chat, template
// included, or a plain prompt, and answers {"count": n}.
var tokenizers = map[string]bool{simKind.id: true, vllmKind.id: true, nimKind.id: true}

// CountTokens asks the engine's own tokenizer how many tokens a prompt has, as a
// chat message with the template around it or as plain text. It generates
// nothing. It is not ok if the engine has no such tokenizer or does not answer.
func CountTokens(ctx context.Context, c Config, id Identity, prompt string, chat bool) (tokens int, ok bool) {
	if !tokenizers[id.Kind] {
		return 0, false
	}
	question := map[string]any{"model": id.Model, "prompt": prompt}
	if chat {
		question = map[string]any{"model": id.Model, "messages": []map[string]string{{"role": "user", "content": prompt}}}
	}
	body, err := json.Marshal(question)
	if err != nil {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.withQuery(c.at("/tokenize")), bytes.NewReader(body))
	if err != nil {
		return 0, false
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if host := c.Header.Get(hostHeader); host != "" {
		req.Host = host
	}
	req.Header.Set("Content-Type", "application/json")
	return countOf(newFetcher(c).client.Do(req))
}

func countOf(resp *http.Response, err error) (tokens int, ok bool) {
	if err != nil {
		return 0, false
	}
	defer resp.Body.Close()
	var answer struct {
		Count int `json:"count"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&answer) != nil {
		return 0, false
	}
	return answer.Count, answer.Count > 0
}
