package serve

import (
	"strings"
	"testing"

	"sonde/probe/sim/core"
)

// answerTo is the whole text of an answer without stop strings.
func answerTo(t *testing.T, base string, ask map[string]any) string {
	t.Helper()
	v := decoded(t, post(t, base+"/v1/chat/completions", ask))
	return v["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"].(string)
}

// A stop string over two tokens: the text before it, one token for each word of it,
// and the usage of what was generated.
func TestAnswersStopAtAStopString(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Tell me about rivers."), "max_tokens": 60, "ignore_eos": true}
	words := strings.Split(answerTo(t, base, ask), " ")
	stop := words[20] + " " + words[21]
	whole := strings.Join(words, " ")
	want := whole[:strings.Index(whole, stop)]
	tokens := len(core.AppendTokens(nil, want+stop))

	ask["stop"] = stop
	v := decoded(t, post(t, base+"/v1/chat/completions", ask))
	choice := v["choices"].([]any)[0].(map[string]any)
	if got := choice["message"].(map[string]any)["content"]; got != want || choice["finish_reason"] != "stop" || choice["stop_reason"] != stop {
		t.Errorf("%v, want the text %q", choice, want)
	}
	if n := v["usage"].(map[string]any)["completion_tokens"]; n != float64(tokens) {
		t.Errorf("%v tokens, want %d", n, tokens)
	}

	ask["stop"], ask["stream"] = []string{"never said", stop}, true
	ask["stream_options"] = map[string]any{"include_usage": true}
	s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body)
	if s.text != want || s.finish != "stop" || !s.done || s.usage["completion_tokens"] != float64(tokens) {
		t.Errorf("stream of %q, finish %q, usage %v", s.text, s.finish, s.usage)
	}
	// The role, a chunk for each token, the finish and the usage: tokens that show
	// nothing have a chunk too.
	if len(s.events) != 1+tokens+1+1 {
		t.Errorf("%d events for %d tokens", len(s.events), tokens)
	}
}

func TestNothingStopsAnAnswerBeforeItsMinimum(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Hi"), "max_tokens": 40, "min_tokens": 30, "stop": []string{"a", "e", "i", "o", "u"}}
	v := decoded(t, post(t, base+"/v1/chat/completions", ask))
	n := v["usage"].(map[string]any)["completion_tokens"].(float64)
	if n < 30 || n > 40 || v["choices"].([]any)[0].(map[string]any)["finish_reason"] != "stop" {
		t.Errorf("%v", v)
	}
}

func TestHeldTextComesWithTheEnd(t *testing.T) {
	base := serve(t, fast)
	ask := map[string]any{"messages": user("Hi"), "max_tokens": 10, "ignore_eos": true}
	whole := answerTo(t, base, ask)
	ask["stop"], ask["stream"] = whole[len(whole)-4:]+"?", true // could begin with the last letters
	if s := readStream(t, post(t, base+"/v1/chat/completions", ask).Body); s.text != whole || s.finish != "length" {
		t.Errorf("%q, finish %q; want %q", s.text, s.finish, whole)
	}
}
