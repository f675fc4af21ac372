package report

import (
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// withoutUsage is a stream whose server counts nothing.
func withoutUsage(start float64) measure.Request {
	r := stream(start, 50, 10, 3)
	r.Source, r.InTokens = measure.Chunks, 0
	return r
}

// Without usage nobody knows how long the prompts were: null, not 0.
func TestInputTokensWithoutUsage(t *testing.T) {
	for what, c := range map[string]struct {
		all    []measure.Request
		source string
		note   string
	}{
		"none": {reqs(withoutUsage(0), withoutUsage(0)), "chunks",
			"token counts are estimates: no usable usage came, so chunks were counted; input tokens are unknown"},
		"some": {reqs(stream(0, 50, 10, 3), withoutUsage(0), stream(0, 50, 10, 3)), "mixed",
			"1 of 3 successful requests came without usage: their token counts are estimates (chunks); input tokens are unknown"},
	} {
		s := summarise(bench.Plan{Load: closed, Requests: len(c.all)}, frames(time.Second, closed, c.all, nil))
		got := decode(t, s)
		tokens, rates := got["tokens"].(map[string]any), got["rates"].(map[string]any)
		for _, key := range []string{"input", "cached_input"} {
			if v, there := tokens[key]; !there || v != nil {
				t.Errorf("%s: tokens.%s = %v, %v", what, key, v, there)
			}
		}
		for _, key := range []string{"input_tokens_per_s", "input_tpm", "total_tokens_per_s", "total_tpm"} {
			if v, there := rates[key]; !there || v != nil {
				t.Errorf("%s: rates.%s = %v, %v", what, key, v, there)
			}
		}
		if tokens["source"] != c.source || tokens["output"] != float64(3*len(c.all)) || rates["output_tokens_per_s"] == nil {
			t.Errorf("%s: %v", what, tokens)
		}
		hasNote(t, s, c.note)
	}
}

// The same for whole replies that hold no usage.
func TestWholeRepliesWithoutUsage(t *testing.T) {
	whole := stream(0, 100, 10, 3)
	whole.Streamed, whole.HaveAnswer, whole.Chunks, whole.GapsMS, whole.InTokens = false, false, 0, nil, 0
	s := summarise(bench.Plan{Load: closed, Requests: 1}, frames(time.Second, closed, reqs(whole), nil))
	if s.Tokens.Input.OK || s.Rates.TotalPerS.OK {
		t.Errorf("tokens %+v", s.Tokens)
	}
	hasNote(t, s, "the server did not count the prompts of 1 of 1 successful requests")
}

func TestCountedInputIsKnown(t *testing.T) {
	cached := stream(0, 50, 10, 3)
	cached.CachedTokens = 4
	s := summarise(bench.Plan{Load: closed, Requests: 2}, frames(time.Second, closed, reqs(cached, stream(0, 50, 10, 3)), nil))
	near(t, "input", s.Tokens.Input, 16)
	near(t, "cached", s.Tokens.CachedInput, 4)
	near(t, "asked", s.Load.InputTokens, 8)
}

// Prompts from a file have no asked length.
func TestPromptsFromAFile(t *testing.T) {
	load := frame.Load{Concurrency: 4, OutputTokens: 100}
	got := decode(t, summarise(bench.Plan{Load: load, Requests: 1}, frames(time.Second, load, reqs(stream(0, 50, 10, 3)), nil)))
	if v, there := got["load"].(map[string]any)["input_tokens"]; !there || v != nil {
		t.Errorf("load.input_tokens = %v, %v", v, there)
	}
}
