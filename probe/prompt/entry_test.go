package prompt

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// Files as data sets and other tools write them.
func TestShapesOfPromptFiles(t *testing.T) {
	const user = `[{"role":"user","content":"hi"}]`
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune("grüße\n")) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for name, c := range map[string]struct {
		file string
		want Prompt
	}{
		"a bare list of messages":      {user, Prompt{Messages: []byte(user)}},
		"a text in brackets":           {"[INST] hi [/INST]", Prompt{Text: "[INST] hi [/INST]"}},
		"ShareGPT, the answer dropped": {`{"id":"x","conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"hello"}]}`, Prompt{Messages: []byte(user)}},
		"ShareGPT, two turns": {`{"conversations":[{"from":"system","value":"s"},{"from":"human","value":"a"},{"from":"gpt","value":"b"},{"from":"human","value":"c"},{"from":"gpt","value":"d"}]}`,
			Prompt{Messages: []byte(`[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`)}},
		"conversations with roles": {`{"conversations":` + user + `}`, Prompt{Messages: []byte(user)}},
		"an OpenAI batch line": {`{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":` + user + `,"max_tokens":9}}`,
			Prompt{Messages: []byte(user), MaxTokens: 9}},
		"a batch line of completions": {`{"custom_id":"1","body":{"prompt":"hi","max_tokens":3}}`, Prompt{Text: "hi", MaxTokens: 3}},
		"the responses API":           {`{"input":"hi","max_output_tokens":4}`, Prompt{Text: "hi", MaxTokens: 4}},
		"messages as a prompt":        {`{"prompt":` + user + `,"body":"text"}`, Prompt{Messages: []byte(user)}},
		"Alpaca":                      {`{"instruction":"translate","input":"bonjour","output":"hello"}`, Prompt{Text: "translate\n\nbonjour"}},
		"Alpaca without input":        {`{"instruction":"sing","input":"","output":"la"}`, Prompt{Text: "sing"}},
		"a question":                  {`{"question":"why?","answer":42}`, Prompt{Text: "why?"}},
		"one list of objects":         {"[\n  {\"prompt\": \"hi\"},\n  {\"prompt\": \"there\"}\n]\n", Prompt{Text: "hi"}},
		"a list on one line":          {`[{"id":"1","conversations":[{"from":"human","value":"hi"}]}]`, Prompt{Messages: []byte(user)}},
		"UTF-16":                      {string(wide), Prompt{Text: "grüße"}},
	} {
		f, err := Read(strings.NewReader(c.file), "p")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := f.Next(1); got.Text != c.want.Text || string(got.Messages) != string(c.want.Messages) || got.MaxTokens != c.want.MaxTokens {
			t.Errorf("%s: got %q %s %d", name, got.Text, got.Messages, got.MaxTokens)
		}
	}
}

func TestUnreadableEntriesAreNamed(t *testing.T) {
	for _, c := range []struct{ name, file, says string }{
		{"p", `{"conversations":[{"from":"tool","value":"x"}]}`, "p, line 1: message 1 has no known role"},
		{"p", `{"conversations":[{"from":"gpt","value":"x"}]}`, "p, line 1: the conversation has no message of its user"},
		{"p", "a\n[1, 2]", "p, line 2: not a list of messages"},
		{"p", "[]", "p, line 1: the list of messages is empty"},
		{"p", "[\n{\"prompt\":\"a\"},\n{\"title\":1}]", "p, entry 2: needs \"prompt\""},
		{"p", "[\n{\"prompt\":\"a\"}\n", "p: the list does not end"},
		{"p", "[\n  {\"role\":\"user\"}\n]", "p, line 1: a list of messages must stand on one line"},
		{"p.csv", "a,b\n", "p.csv: .csv files are not supported"},
		{"p.jsonl.gz", "x", "p.jsonl.gz is compressed: unpack it first"},
	} {
		if _, err := Read(strings.NewReader(c.file), c.name); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %s…", c.file, err, c.says)
		}
	}
}

// Any bytes are prompts or an error, and never a prompt that is empty or both kinds at once.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a\n", `{"prompt":"a"}`, `[{"role":"user"}]`, `[{"prompt":"a"}]`, `{"conversations":[{"from":"human","value":"a"}]}`, "\xff\xfea\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(strings.NewReader(string(data)), "p")
		if err != nil {
			return
		}
		if len(file.prompts) == 0 {
			t.Error("no error and no prompts")
		}
		for _, p := range file.prompts {
			if p.Text != "" && p.Messages != nil || p.MaxTokens < 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
