package prompt

import (
	"encoding/json"
	"strings"
	"testing"
)

// said is what the messages of a prompt say, each after its speaker.
func said(t *testing.T, p Prompt) (out []string) {
	t.Helper()
	var messages []apiMessage
	if err := json.Unmarshal(p.Messages, &messages); err != nil {
		t.Fatalf("%v: %s", err, p.Messages)
	}
	for _, m := range messages {
		out = append(out, m.Role+": "+m.Content)
	}
	return out
}

func TestConversationSendsItsHistory(t *testing.T) {
	alone := NewSynthetic(Unique, 7)
	c := NewConversation(NewSynthetic(Unique, 7), 3)
	answers := []string{"yes \"quoted\"\n", "", "last"}
	var want []string
	for turn := 1; turn <= 3; turn++ {
		p := c.Next(20)
		want = append(want, "user: "+alone.Next(20).Text) // the very prompts that would be sent without turns
		if got := said(t, p); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("turn %d says %q, want %q", turn, got, want)
		}
		if c.Turn() != turn || p.Tokens != 20 {
			t.Errorf("turn %d, %d tokens requested; want turn %d, 20", c.Turn(), p.Tokens, turn)
		}
		// The server counts 30 tokens of prompt for each turn so far, and 5 of each answer.
		if want := (turn-1)*35 + 20; p.Estimate() != want {
			t.Errorf("turn %d is estimated at %d tokens, want %d", turn, p.Estimate(), want)
		}
		answer := answers[turn-1]
		if more := c.Answered(answer, 30*turn+5*(turn-1), 5); more != (turn < 3) {
			t.Errorf("after turn %d another follows: %v", turn, more)
		}
		if answer == "" {
			answer = "(no text)"
		}
		want = append(want, "assistant: "+answer)
	}
}

// A later turn's count is of the whole history: it must not teach how long a prompt is.
func TestOnlyTheFirstTurnTeachesLengths(t *testing.T) {
	source := NewSynthetic(Unique, 1)
	c := NewConversation(source, 2)
	first := c.Next(100)
	source.Learn(first, 112)
	if n, ok := source.Nearest(100); !ok || n != 112 {
		t.Errorf("after turn 1 the source knows of %d tokens, %v", n, ok)
	}
	c.Answered("a", 112, 10)
	source.Learn(c.Next(100), 221)
	if n, _ := source.Nearest(200); n != 112 {
		t.Errorf("turn 2 taught a count of %d tokens", n)
	}
}

func TestConversationsOfAFile(t *testing.T) {
	file, err := Read(strings.NewReader(`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a","name":"n"},{"role":"assistant","content":"theirs"},{"role":"user","content":"b"},{"role":"assistant","content":"theirs"}],"max_tokens":9}
{"conversations":[{"from":"gpt","value":"hello"},{"from":"human","value":"c"},{"from":"gpt","value":"theirs"},{"from":"human","value":"d"},{"from":"gpt","value":"theirs"},{"from":"human","value":"e"}]}
{"messages":[{"role":"user","content":"f"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"r"},{"role":"assistant","content":"x"},{"role":"user","content":"g"}]}
plain
{"messages":[{"role":"system","content":"only"}]}
`), "f.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range [][]string{
		{"system: s|user: a", "system: s|user: a|assistant: ours|user: b"},
		{"assistant: hello|user: c", "assistant: hello|user: c|assistant: ours|user: d"}, // of three, at most two
		{"user: f", "user: f|assistant: ours|user: g"},
		{"user: plain"},
		{"system: only"},
	} {
		c := NewConversation(file, 2)
		for turn, text := range want {
			p := c.Next(500)
			if got := strings.Join(said(t, p), "|"); got != text {
				t.Errorf("conversation %d, turn %d: %q, want %q", n, turn+1, got, text)
			}
			if wantMost := []int{9, 0, 0, 0, 0}[n]; p.MaxTokens != wantMost || p.Tokens != 0 || p.Estimate() != len(p.Messages)/4 {
				t.Errorf("conversation %d: answers of %d tokens, %d requested, about %d", n, p.MaxTokens, p.Tokens, p.Estimate())
			}
			if n == 0 && turn == 0 && !strings.Contains(string(p.Messages), `"name":"n"`) {
				t.Errorf("a field of a message is lost: %s", p.Messages)
			}
			if more := c.Answered("ours", 0, 0); more != (turn+1 < len(want)) {
				t.Errorf("conversation %d: after turn %d another follows: %v", n, turn+1, more)
			}
		}
	}
}
