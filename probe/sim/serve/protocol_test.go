package serve

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"sonde/probe/sim/core"
)

func noClump() *atomic.Int64 { return &atomic.Int64{} }

// randomText is words, punctuation, long runs, white space and other scripts.
func randomText(random *rand.Rand) string {
	parts := []string{"a", "it's", "river", ",", "...", " ", "\n\t", "naïve", "日本", "🙂", "x=1;", strings.Repeat("z", 40), "<end>"}
	var b strings.Builder
	for range 1 + random.IntN(30) {
		b.WriteString(parts[random.IntN(len(parts))])
	}
	return b.String()
}

// What /tokenize counts is what a request with the same text is billed for, exactly.
func TestTokenizeCountsAsUsageDoes(t *testing.T) {
	base := serve(t, fast)
	random := rand.New(rand.NewPCG(5, 6))
	count := func(body map[string]any) float64 {
		return decoded(t, post(t, base+"/tokenize", body))["count"].(float64)
	}
	billed := func(path string, body map[string]any) float64 {
		body["max_tokens"] = 1
		return decoded(t, post(t, base+path, body))["usage"].(map[string]any)["prompt_tokens"].(float64)
	}
	for range 40 {
		text := "w" + randomText(random)
		if a, b := count(map[string]any{"prompt": text}), billed("/v1/completions", map[string]any{"prompt": text}); a != b {
			t.Fatalf("%q: %v tokens by /tokenize, %v by usage", text, a, b)
		}
		messages := append([]any{map[string]any{"role": "system", "content": randomText(random)}}, user(text)...)
		if a, b := count(map[string]any{"messages": messages}), billed("/v1/chat/completions", map[string]any{"messages": messages}); a != b {
			t.Fatalf("%q: %v tokens by /tokenize, %v by usage", messages, a, b)
		}
	}
}

// An answer's text has as many tokens as its usage says, reasoning and answer.
func TestAnswersHaveTheTokensOfTheirUsage(t *testing.T) {
	for _, reasoning := range []float64{0, 0.4, 12} {
		o := fast
		o.Reasoning = reasoning
		base := serve(t, o)
		for seed := range 8 {
			v := decoded(t, post(t, base+"/v1/chat/completions", map[string]any{"messages": user("Hi"), "seed": seed, "max_tokens": 60}))
			m := v["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
			thought, _ := m["reasoning_content"].(string)
			text, _ := m["content"].(string)
			u := v["usage"].(map[string]any)
			if got := float64(len(core.AppendTokens(nil, thought)) + len(core.AppendTokens(nil, text))); got != u["completion_tokens"] {
				t.Errorf("%v: %g tokens of text, usage %v", m, got, u)
			}
			if d, ok := u["completion_tokens_details"].(map[string]any); ok != (reasoning > 0) || ok && d["reasoning_tokens"] != float64(len(core.AppendTokens(nil, thought))) {
				t.Errorf("%v: details %v", m, d)
			}
		}
	}
}

// 0.4 of 50 tokens are 20; 12 tokens are 12; with 100 the limit ends the answer
// before it has begun.
func TestReasoningComesFirst(t *testing.T) {
	for reasoning, want := range map[float64]int{0.4: 20, 12: 12, 100: 50} {
		o := fast
		o.Reasoning = reasoning
		base := serve(t, o)
		ask := map[string]any{"messages": user("Hi"), "max_tokens": 50, "ignore_eos": true, "stream": true, "stream_options": map[string]any{"include_usage": true}}
		s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body)
		thoughts, answered := 0, false
		for _, e := range s.events {
			for _, c := range e["choices"].([]any) {
				d := c.(map[string]any)["delta"].(map[string]any)
				if text, _ := d["reasoning_content"].(string); text != "" {
					thoughts++
					if answered {
						t.Errorf("reasoning %g: it thinks after it has begun to answer", reasoning)
					}
				}
				if text, _ := d["content"].(string); text != "" {
					answered = true
				}
			}
		}
		if thoughts != want || s.tokens != 50-want || s.finish != "length" || s.usage["completion_tokens"] != 50.0 {
			t.Errorf("reasoning %g: %d thoughts, %d words, usage %v; want %d thoughts", reasoning, thoughts, s.tokens, s.usage, want)
		}
		// Completions have no place for it.
		if s := readStream(t, post(t, base+"/v1/completions", map[string]any{"prompt": "Hi", "max_tokens": 50, "ignore_eos": true, "stream": true}).Body); s.tokens != 50 {
			t.Errorf("%d words of a completion, want 50", s.tokens)
		}
	}
}

func TestDetokenizeGivesTheSameTokensBack(t *testing.T) {
	base := serve(t, fast)
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		text := "w" + randomText(random)
		ids := decoded(t, post(t, base+"/tokenize", map[string]any{"prompt": text}))["tokens"]
		back := decoded(t, post(t, base+"/detokenize", map[string]any{"tokens": ids}))["prompt"]
		again := decoded(t, post(t, base+"/tokenize", map[string]any{"prompt": back}))["tokens"]
		if fmt.Sprint(again) != fmt.Sprint(ids) {
			t.Fatalf("%q came back as %q", text, back)
		}
	}
	r := call(t, "POST", base+"/detokenize", `{"tokens":[3]}`)
	if b, _ := io.ReadAll(r.Body); r.StatusCode != 400 || !strings.Contains(string(b), "tokens: 3 is unknown") {
		t.Errorf("%d %s", r.StatusCode, b)
	}
}

func TestSameSeedAndPromptSameAnswer(t *testing.T) {
	base := serve(t, fast)
	ask := func(seed int, limit int) string {
		return answerTo(t, base, map[string]any{"messages": user("Hi"), "seed": seed, "max_tokens": limit, "ignore_eos": true, "temperature": 0.5 + float64(seed)/10})
	}
	first := ask(3, 40)
	if again := ask(3, 40); again != first {
		t.Errorf("%q and %q with the same seed", first, again)
	}
	if longer := ask(3, 60); !strings.HasPrefix(longer, first) {
		t.Errorf("with another limit %q became %q", first, longer)
	}
	if other := ask(4, 40); other == first {
		t.Errorf("%q with another seed, too", other)
	}
}

// A wrong type is refused with the name of its field; an unknown field is not.
func TestWrongTypesNameTheirField(t *testing.T) {
	base := serve(t, fast)
	const messages = `"messages":[{"role":"user","content":"x"}],"max_tokens":3`
	for body, want := range map[string]string{
		`{` + messages + `,"max_tokens":"3"}`:                                   "max_tokens cannot be a JSON string",
		`{` + messages + `,"max_tokens":3.5}`:                                   "max_tokens cannot be a JSON number 3.5",
		`{` + messages + `,"stream":1}`:                                         "stream cannot be a JSON number",
		`{` + messages + `,"stream":true,"stream_options":true}`:                "stream_options cannot be a JSON bool",
		`{` + messages + `,"temperature":"hot"}`:                                "temperature cannot be a JSON string",
		`{` + messages + `,"temperature":-1}`:                                   "temperature must be between 0 and 2, not -1",
		`{` + messages + `,"top_p":2}`:                                          "top_p must be between 0 and 1, not 2",
		`{` + messages + `,"stop":7}`:                                           "stop cannot be a JSON number",
		`{` + messages + `,"stop":["a",""]}`:                                    "stop contains an empty string",
		`{` + messages + `,"n":0}`:                                              "n must be 1",
		`{` + messages + `,"ignore_eos":"yes"}`:                                 "ignore_eos cannot be a JSON string",
		`{` + messages + `,"logprobs":true}`:                                    "logprobs are not supported",
		`{` + messages + `,"response_format":{"type":"json_object"}}`:           "response_format must be text",
		`{` + messages + `,"stream_options":{"include_usage":true}}`:            "stream_options needs stream to be true",
		`{` + messages + `,"tools":[{"type":"function"}],"tool_choice":"auto"}`: "no parser for tool calls",
		`{` + messages + `,"tools":[{"type":"function"}]}`:                      "no parser for tool calls",
		`{` + messages + `,"tools":[{"type":"function"}],"tool_choice":{"type":"function","function":{"name":"f"}}}`: "no parser for tool calls",
		`{` + messages + `,"tool_choice":"required"}`:                                                                "tool_choice needs tools",
		`{` + messages + `,"max_tokens":1000000}`:                                                                    "The maximum context length is",
		`{` + messages + `,"max_completion_tokens":0}`:                                                               "max_completion_tokens must be at least 1",
		`{"messages":"x"}`:                                                "messages cannot be a JSON string",
		`{"messages":[{"role":"user","content":5}]}`:                      "messages.content cannot be a JSON number",
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`: `only content parts of type text are supported, not \"image_url\"`,
		`[]`: "the request body cannot be a JSON array",
	} {
		r := call(t, "POST", base+"/v1/chat/completions", body)
		b, _ := io.ReadAll(r.Body)
		if r.StatusCode != 400 || !strings.Contains(string(b), want) {
			t.Errorf("%s: %d %s, want %q", body, r.StatusCode, b, want)
		}
	}
	for _, more := range []string{`"unheard_of":{"a":1}`, `"stop":null,"seed":null,"logprobs":null,"n":1,"temperature":null`, `"logprobs":false,"top_k":-1,"tools":[],"user":"me"`, `"tools":[{"type":"function"}],"tool_choice":"none"`, `"tools":null,"tool_choice":null`} {
		if r := call(t, "POST", base+"/v1/chat/completions", `{`+messages+`,`+more+`}`); r.StatusCode != 200 {
			t.Errorf("%s: status %d", more, r.StatusCode)
		}
	}
	if r := call(t, "POST", base+"/v1/completions", `{"prompt":[[1,2]],"logprobs":null,"repetition_penalty":1.0}`); r.StatusCode != 200 {
		t.Errorf("a list with one list of ids: status %d", r.StatusCode)
	}
}

// One model by its name, encoded or not; and 405, with the method that would do, to others.
func TestPathsAndMethods(t *testing.T) {
	base := serve(t, fast)
	for _, c := range []struct {
		method, path string
		status       int
		allow, part  string
	}{
		{"GET", "/v1/models/sim/Llama-3.1-8B", 200, "", `"object":"model"`},
		{"GET", "/v1/models/sim%2FLlama-3.1-8B", 200, "", `"id":"sim/Llama-3.1-8B"`},
		{"GET", "/v1/models/gpt-9", 404, "", "does not exist"},
		{"HEAD", "/v1/models", 200, "", ""},
		{"GET", "/version", 200, "", `"version"`},
		{"GET", "/v1/chat/completions", 405, "POST", "takes POST, not GET"},
		{"OPTIONS", "/v1/completions", 405, "POST", "takes POST, not OPTIONS"},
		{"DELETE", "/v1/models/gpt-9", 405, "GET", "takes GET, not DELETE"},
		{"POST", "/metrics", 405, "GET", "takes GET, not POST"},
		{"GET", "/v1/nothing", 404, "", "has no GET /v1/nothing"},
	} {
		r := call(t, c.method, base+c.path, "")
		b, _ := io.ReadAll(r.Body)
		if r.StatusCode != c.status || r.Header.Get("Allow") != c.allow || !strings.Contains(string(b), c.part) {
			t.Errorf("%s %s: %d, Allow %q, %s", c.method, c.path, r.StatusCode, r.Header.Get("Allow"), b)
		}
	}
}

func FuzzRequestsNeverBreakTheEngine(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"x"}],"max_tokens":3,"stop":["a"]}`)
	f.Add(`{"prompt":[[1]],"n":1e9}`)
	setup := &core.Setup{Options: core.Options{MaxModelLen: 100}}
	f.Fuzz(func(t *testing.T, body string) {
		var b requestBody
		e := decode([]byte(body), &b)
		if e == nil {
			e = b.check()
		}
		for _, d := range []*dialect{&chatDialect, &completionDialect} {
			var q core.Request
			if e == nil {
				q, e = b.request(d, setup)
			}
			if e != nil && (e.status < 400 || e.message == "") {
				t.Errorf("refused without a message: %+v", e)
			}
			if n := len(q.Prompt); e == nil && (n == 0 || q.MaxTokens < 1 || n+q.MaxTokens > 100) {
				t.Errorf("accepted %+v", q)
			}
		}
	})
}
