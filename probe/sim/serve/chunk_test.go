package serve

import (
	"testing"

	"sonde/probe/sim/core"
)

// wordOf is the place of a word in the vocabulary.
func wordOf(t *testing.T, text string) uint16 {
	t.Helper()
	for i, w := range core.Vocabulary {
		if w.Text == text {
			return uint16(i)
		}
	}
	t.Fatalf("no word %q", text)
	return 0
}

// scripted is a stream with an answer that the test dictates.
func scripted(d *dialect, a core.Request) *chunks {
	a.Prompt = make([]uint32, 7)
	s := &core.Sequence{Request: a, Thinking: int(a.Reasoning), Cached: 4}
	return newChunks(d, "id-1", "sim/m", 99, s)
}

const (
	chatHead = `data: {"id":"id-1","object":"chat.completion.chunk","created":99,"model":"sim/m","choices":[`
	textHead = `data: {"id":"id-1","object":"text_completion","created":99,"model":"sim/m","choices":[`
	goesOn   = `,"logprobs":null,"finish_reason":null}]`
)

func TestChatStreamByteForByte(t *testing.T) {
	c := scripted(&chatDialect, core.Request{MaxTokens: 3})
	c.final = true
	got := string(c.append(nil, []uint16{wordOf(t, " River"), wordOf(t, ",")}, core.Unfinished))
	got += string(c.append(nil, []uint16{wordOf(t, " deep")}, core.FinishLength))
	want := chatHead + `{"index":0,"delta":{"role":"assistant","content":""}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{"content":"River"}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{"content":","}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{"content":" deep"}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"length","stop_reason":null}]}` + "\n\n" +
		chatHead + `],"usage":{"prompt_tokens":7,"total_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n" +
		"data: [DONE]\n\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Two tokens of reasoning, then one of the answer, with running counts.
func TestReasoningStreamByteForByte(t *testing.T) {
	c := scripted(&chatDialect, core.Request{MaxTokens: 3, Reasoning: 2})
	c.final, c.continuous = true, true
	got := string(c.append(nil, []uint16{wordOf(t, " Well"), wordOf(t, " then"), wordOf(t, " Year")}, core.FinishStop))
	usage := func(n, reasoning string) string {
		total := map[string]string{"0": "7", "1": "8", "2": "9", "3": "10"}[n]
		return `,"usage":{"prompt_tokens":7,"total_tokens":` + total + `,"completion_tokens":` + n +
			`,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":` + reasoning + "}}}\n\n"
	}
	want := chatHead + `{"index":0,"delta":{"role":"assistant","content":""}` + goesOn + usage("0", "0") +
		chatHead + `{"index":0,"delta":{"reasoning_content":"Well"}` + goesOn + usage("1", "1") +
		chatHead + `{"index":0,"delta":{"reasoning_content":" then"}` + goesOn + usage("2", "2") +
		chatHead + `{"index":0,"delta":{"content":"Year"}` + goesOn + usage("3", "2") +
		chatHead + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null}]` + usage("3", "2") +
		chatHead + `]` + usage("3", "2") + "data: [DONE]\n\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// What the engine yields in one step is one chunk, as speculative decoding has it.
func TestTokensOfOneStepShareAChunk(t *testing.T) {
	m := newMailbox(noClump())
	m.put([]uint16{wordOf(t, " One"), wordOf(t, " two")}, core.Unfinished)
	m.put([]uint16{wordOf(t, " three")}, core.FinishLength)
	words, end := m.take(nil)
	c := scripted(&completionDialect, core.Request{MaxTokens: 3})
	want := textHead + `{"index":0,"text":"One two"` + goesOn + "}\n\n" +
		textHead + `{"index":0,"text":" three"` + goesOn + "}\n\n" +
		textHead + `{"index":0,"text":"","logprobs":null,"finish_reason":"length","stop_reason":null}]}` + "\n\n" +
		"data: [DONE]\n\n"
	if got := string(c.append(nil, words, end)); got != want || c.sent() != 3 {
		t.Errorf("%d tokens, got\n%swant\n%s", c.sent(), got, want)
	}
	// Reasoning and answer are never in the same chunk.
	m.put([]uint16{wordOf(t, " Well"), wordOf(t, " Go")}, core.Unfinished)
	words, _ = m.take(nil)
	c = scripted(&chatDialect, core.Request{MaxTokens: 2, Reasoning: 1})
	want = chatHead + `{"index":0,"delta":{"role":"assistant","content":""}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{"reasoning_content":"Well"}` + goesOn + "}\n\n" +
		chatHead + `{"index":0,"delta":{"content":"Go"}` + goesOn + "}\n\n"
	if got := string(c.append(nil, words, core.Unfinished)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The text of a stop string goes into JSON, whatever it is.
func TestStopReasonIsQuoted(t *testing.T) {
	c := scripted(&completionDialect, core.Request{MaxTokens: 2, Stops: []string{"\" say"}})
	c.text.Found = "\" \n"
	got := string(c.append(nil, nil, core.FinishStop))
	want := textHead + `{"index":0,"text":"","logprobs":null,"finish_reason":"stop","stop_reason":"\" \n"}]}` + "\n\ndata: [DONE]\n\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
