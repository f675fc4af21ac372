package engine

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCountTokens(t *testing.T) {
	var asked map[string]any
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.RequestURI() != "/tokenize?v=1" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%s %s, key %q", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"))
		}
		raw, _ := io.ReadAll(r.Body)
		asked = nil
		_ = json.Unmarshal(raw, &asked)
		w.WriteHeader(status)
		io.WriteString(w, `{"count":17,"max_model_len":100,"tokens":[1,2]}`)
	}))
	defer srv.Close()
	c := Config{Base: srv.URL, Query: "v=1", Header: http.Header{"Authorization": {"Bearer k"}}}
	id := Identity{Kind: "vllm", Model: "m"}

	if n, ok := CountTokens(context.Background(), c, id, "a b", true); n != 17 || !ok || asked["messages"] == nil || asked["model"] != "m" {
		t.Errorf("chat: %d, %v; asked %v", n, ok, asked)
	}
	if n, ok := CountTokens(context.Background(), c, id, "a b", false); n != 17 || !ok || asked["prompt"] != "a b" {
		t.Errorf("plain: %d, %v; asked %v", n, ok, asked)
	}
	status = http.StatusNotFound
	if _, ok := CountTokens(context.Background(), c, id, "a", true); ok {
		t.Error("a 404 gave a count")
	}
	asked = nil
	if _, ok := CountTokens(context.Background(), c, Identity{Kind: "ollama"}, "a", true); ok || asked != nil {
		t.Error("an engine without a tokenizer was asked")
	}
}
