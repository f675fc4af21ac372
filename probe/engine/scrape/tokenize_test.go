package scrape

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sonde/probe/engine"
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
	id := engine.Identity{Kind: "vllm", Model: "m"}

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
	if _, ok := CountTokens(context.Background(), c, engine.Identity{Kind: "ollama"}, "a", true); ok || asked != nil {
		t.Error("an engine without a tokenizer was asked")
	}
}

// Each engine is asked in its own words, and what it answers is counted. A chat is
// not counted where the template around it would be left out.
func TestTokenizersOfEngines(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		chat  bool
		pages map[string]string // answers by path
		want  int
		asked string // in the last body; "" = nothing is asked
	}{
		{"sglang", false, map[string]string{"/tokenize": `{"tokens":[1,2,3],"count":3}`}, 3, `"prompt":"a b"`},
		{"sglang", true, nil, 0, ""},
		{"llama.cpp", false, map[string]string{"/tokenize": `{"tokens":[1,2]}`}, 2, `"content":"a b"`},
		{"llama.cpp", true, map[string]string{"/apply-template": `{"prompt":"[user] a b [bot]"}`, "/tokenize": `{"tokens":[9,9,9,9,9]}`}, 5, `"content":"[user] a b [bot]"`},
		{"llama.cpp", true, map[string]string{"/apply-template": `{}`, "/tokenize": `{"tokens":[9]}`}, 0, `"messages"`},
		{"tgi", false, map[string]string{"/tokenize": `[{"id":1},{"id":2}]`}, 2, `"inputs":"a b"`},
		{"tgi", true, map[string]string{"/chat_tokenize": `{"tokenize_response":[{"id":1},{"id":2},{"id":3}],"templated_text":"x"}`}, 3, `"messages"`},
		{"lmdeploy", false, map[string]string{"/v1/encode": `{"input_ids":[1,2,3,4],"length":4}`}, 4, `"input":"a b"`},
		{"nim", true, map[string]string{"/tokenize": `{"count":-1}`}, 0, `"messages"`},
		{"vllm", true, map[string]string{"/tokenize": `[]`}, 0, `"messages"`},
	} {
		last := ""
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			last = string(raw)
			answer, there := tt.pages[r.URL.Path]
			if !there || r.Method != http.MethodPost {
				t.Errorf("%s was asked %s %s", tt.kind, r.Method, r.URL.Path)
			}
			io.WriteString(w, answer)
		}))
		n, ok := CountTokens(t.Context(), Config{Base: srv.URL}, engine.Identity{Kind: tt.kind, Model: "m"}, "a b", tt.chat)
		srv.Close()
		if n != tt.want || ok != (tt.want > 0) || !strings.Contains(last, tt.asked) || (tt.asked == "") != (last == "") {
			t.Errorf("%s, chat %v: %d, %v; asked %s; want %d by %s", tt.kind, tt.chat, n, ok, last, tt.want, tt.asked)
		}
	}
}
