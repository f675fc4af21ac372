package serve

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"sonde/probe/sim/core"
)

func TestChatStream(t *testing.T) {
	base := serve(t, fast)
	r := post(t, base+"/v1/chat/completions", map[string]any{
		"model": "sim/Llama-3.1-8B", "messages": user("Tell me about rivers, please."),
		"stream": true, "max_tokens": 50, "min_tokens": 50, "ignore_eos": true,
		"stream_options": map[string]any{"include_usage": true},
	})
	if r.StatusCode != 200 || r.Header.Get("Server") != "sonde-sim" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("status %d, headers %v", r.StatusCode, r.Header)
	}
	s := readStream(t, r.Body)
	first := s.events[0]["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)
	if first["role"] != "assistant" || first["content"] != "" {
		t.Errorf("the first chunk is %v, want role and empty content", first)
	}
	if s.tokens != 50 || s.finish != "length" || !s.done || s.usages != 1 || len(s.events) != 1+50+1+1 {
		t.Errorf("%d tokens, finish %q, done %v, %d usages, %d events", s.tokens, s.finish, s.done, s.usages, len(s.events))
	}
	// 7 tokens of content and 4 of the template.
	want := map[string]any{"prompt_tokens": 11.0, "completion_tokens": 50.0, "total_tokens": 61.0, "prompt_tokens_details": map[string]any{"cached_tokens": 0.0}}
	if fmt.Sprint(s.usage) != fmt.Sprint(want) {
		t.Errorf("usage %v, want %v", s.usage, want)
	}
	if n := len(core.AppendTokens(nil, s.text)); n != 50 {
		t.Errorf("the text reads back as %d tokens", n)
	}
}

func TestStreamWithoutAndWithContinuousUsage(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Hi"), "stream": true, "max_completion_tokens": 7, "ignore_eos": true}
	if s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body); s.usages != 0 || s.tokens != 7 || !s.done {
		t.Errorf("%d usages, %d tokens, done %v; want 0, 7", s.usages, s.tokens, s.done)
	}
	ask["stream_options"] = map[string]any{"include_usage": true, "continuous_usage_stats": true}
	s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body)
	if s.usages != len(s.events) {
		t.Errorf("%d usages in %d events", s.usages, len(s.events))
	}
	for i, e := range s.events[:8] { // role chunk, then one token each
		if got := e["usage"].(map[string]any)["completion_tokens"]; got != float64(i) {
			t.Errorf("event %d counts %v tokens", i, got)
		}
	}
}

func TestPlainCompletions(t *testing.T) {
	base := serve(t, fast)
	for _, prompt := range []any{"one two three", []string{"one two three"}, []int{7, 8, 9}} {
		s := readStream(t, post(t, base+"/v1/completions", map[string]any{
			"prompt": prompt, "stream": true, "max_tokens": 5, "ignore_eos": true,
			"stream_options": map[string]any{"include_usage": true},
		}).Body)
		if s.tokens != 5 || s.usage["prompt_tokens"] != 3.0 || s.finish != "length" || !s.done {
			t.Errorf("%v: %d tokens, usage %v", prompt, s.tokens, s.usage)
		}
	}
	whole := decoded(t, post(t, base+"/v1/completions", map[string]any{"prompt": "one two three", "ignore_eos": true}))
	text := whole["choices"].([]any)[0].(map[string]any)["text"].(string)
	if n := len(core.AppendTokens(nil, text)); n != 16 { // the endpoint's default
		t.Errorf("%d tokens without max_tokens, want 16", n)
	}
}

func TestWholeAnswer(t *testing.T) {
	base := serve(t, fast)
	parts := []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "One two"}, map[string]any{"type": "text", "text": " three"}}}}
	v := decoded(t, post(t, base+"/v1/chat/completions", map[string]any{"messages": parts, "max_tokens": 20, "ignore_eos": true}))
	choice := v["choices"].([]any)[0].(map[string]any)
	content := choice["message"].(map[string]any)["content"].(string)
	u := v["usage"].(map[string]any)
	if len(core.AppendTokens(nil, content)) != 20 || choice["finish_reason"] != "length" || u["completion_tokens"] != 20.0 || u["prompt_tokens"] != 7.0 || v["object"] != "chat.completion" {
		t.Errorf("answer %v", v)
	}
}

func TestSecondRequestFindsItsPrefix(t *testing.T) {
	base := serve(t, fast)
	long := strings.Repeat("river ", 200) // 204 tokens: 12 full blocks
	for _, cached := range []float64{0, 192} {
		v := decoded(t, post(t, base+"/v1/chat/completions", map[string]any{"messages": user(long), "max_tokens": 1}))
		got := v["usage"].(map[string]any)["prompt_tokens_details"].(map[string]any)["cached_tokens"]
		if got != cached {
			t.Errorf("%v cached tokens, want %v", got, cached)
		}
	}
}

func TestRefusals(t *testing.T) {
	base := serve(t, fast)
	long := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":100}`, strings.Repeat("word ", 16300))
	for _, c := range []struct {
		path, body string
		status     int
		says       []string
	}{
		{"/v1/chat/completions", long, 400, []string{`"code":400`, `"type":"BadRequestError"`, "16384", "16304", "16404"}},
		{"/v1/chat/completions", `{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`, 404, []string{"gpt-4", "does not exist", "sim/Llama-3.1-8B"}},
		{"/v1/chat/completions", `{"messages":`, 400, []string{"invalid JSON"}},
		{"/v1/chat/completions", `{"messages":[]}`, 400, []string{"messages"}},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, []string{"text"}},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":0}`, 400, []string{"max_tokens", "0"}},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":5,"min_tokens":6}`, 400, []string{"min_tokens"}},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"n":2}`, 400, []string{"n must be 1"}},
		{"/v1/completions", `{"max_tokens":5}`, 400, []string{"prompt"}},
		{"/v1/completions", `{"prompt":["a","b"]}`, 400, []string{"prompt"}},
		{"/v1/embeddings", `{}`, 404, []string{"/v1/embeddings"}},
	} {
		r := call(t, "POST", base+c.path, c.body)
		b, _ := io.ReadAll(r.Body)
		if r.StatusCode != c.status {
			t.Errorf("%.80s: status %d, want %d", c.body, r.StatusCode, c.status)
		}
		for _, part := range append(c.says, `{"error":{`) {
			if !bytes.Contains(b, []byte(part)) {
				t.Errorf("%.80s: %s does not say %q", c.body, b, part)
			}
		}
	}
}

func TestWhoIsIt(t *testing.T) {
	base := serve(t, fast)
	m := decoded(t, call(t, "GET", base+"/v1/models", ""))["data"].([]any)[0].(map[string]any)
	if m["id"] != "sim/Llama-3.1-8B" || m["owned_by"] != "sonde-sim" || m["max_model_len"] != 16384.0 {
		t.Errorf("model %v", m)
	}
	v := decoded(t, call(t, "GET", base+"/version", ""))
	if v["engine"] != "sonde-sim" || v["gpu_metrics"] != "/dcgm/metrics" {
		t.Errorf("version %v", v)
	}
	if r := call(t, "GET", base+"/health", ""); r.StatusCode != 200 {
		t.Errorf("health %d", r.StatusCode)
	}
	for body, want := range map[string]float64{
		`{"prompt":"Hello there, world."}`:                               5,
		`{"messages":[{"role":"user","content":"Hello there, world."}]}`: 9,
	} {
		if v := decoded(t, call(t, "POST", base+"/tokenize", body)); v["count"] != want || len(v["tokens"].([]any)) != int(want) {
			t.Errorf("%s: %v, want %v tokens", body, v, want)
		}
	}
}

func TestMailboxNeverBlocks(t *testing.T) {
	m := newMailbox(noClump())
	for i := range 10000 { // nobody reads
		m.put([]uint16{uint16(i)}, core.Unfinished)
	}
	words, end := m.take(nil)
	if len(words) != 10000 || end != core.Unfinished || words[9999] != 9999 {
		t.Errorf("%d words kept", len(words))
	}
}
