package prompt

import (
	"strings"
	"testing"
)

func TestSeedRepeats(t *testing.T) {
	a, b, c := NewSynthetic(Unique, 7), NewSynthetic(Unique, 7), NewSynthetic(Unique, 8)
	seen := map[string]bool{}
	for range 50 {
		p := a.Next(100).Text
		if p != b.Next(100).Text {
			t.Fatal("the same seed gives another prompt")
		}
		if start := strings.Join(strings.Fields(p)[:6], " "); seen[start] {
			t.Fatalf("two prompts begin with %q", start)
		} else {
			seen[start] = true
		}
		if p == c.Next(100).Text {
			t.Fatal("another seed gives the same prompt")
		}
	}
}

func TestPrefixes(t *testing.T) {
	shared := NewSynthetic(Shared, 1)
	a, b := shared.Next(210).Text, shared.Next(210).Text
	if a == b || a[:400] != b[:400] {
		t.Error("shared prompts have to agree in their first half only")
	}
	same := NewSynthetic(Same, 1)
	if one, two := same.Next(50), same.Next(50); one.Text != two.Text {
		t.Error("same prompts differ")
	}
}

func TestFile(t *testing.T) {
	f, err := Read(strings.NewReader("\xef\xbb\xbf{\"prompt\":\"a\"}\n\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}\n  plain words \n"), "p.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	got := []Prompt{f.Next(1), f.Next(1), f.Next(1), f.Next(1)}
	if got[0].Text != "a" || string(got[1].Messages) != `[{"role":"user","content":"b"}]` || got[2].Text != "  plain words " || got[3].Text != "a" {
		t.Errorf("%+v", got)
	}
	if !f.HasMessages() {
		t.Error("the messages were missed")
	}
	for text, says := range map[string]string{
		"{\"prompt\":\"a\"}\n{broken\n":          "p.jsonl, line 2: invalid JSON",
		"{\"words\":\"a\"}\n":                    `p.jsonl, line 1: needs "prompt"`,
		"{\"prompt\":\"a\",\"max_tokens\":-1}\n": "p.jsonl, line 1: max_tokens cannot be negative",
		"\n\n":                                   "p.jsonl contains no prompts",
		"a\nb\xff\n":                             "p.jsonl, line 2: not UTF-8",
	} {
		if _, err := Read(strings.NewReader(text), "p.jsonl"); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: error %v, want %s…", text, err, says)
		}
	}
}

func TestLinesAskForTheirOwnAnswers(t *testing.T) {
	f, err := Read(strings.NewReader(`{"prompt":"a","max_tokens":7}
{"messages":[{"role":"user","content":"c"}],"max_completion_tokens":9}
{"prompt":"b"}
`), "p.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{7, 9, 0} {
		if got := f.Next(1).MaxTokens; got != want {
			t.Errorf("max_tokens %d, want %d", got, want)
		}
	}
}
