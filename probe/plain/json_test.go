package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestEscapeJSON(t *testing.T) {
	const text = "a\u009b2J\u202eb\u2066\u00adé漢\U000e0001\"\\\x7f"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	got := EscapeJSON(raw)
	if want := `"a\u009b2J\u202eb\u2066\u00adé漢\udb40\udc01\"\\\u007f"`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(got, &back); err != nil || back != text {
		t.Errorf("read back as %q, %v", back, err)
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, map[string]string{"says": "a<b\u009b\n"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "{\n  \"says\": \"a<b\\u009b\\n\"\n}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := WriteJSON(&b, func() {}); err == nil {
		t.Error("a function was written")
	}
}

func FuzzEscapeJSON(f *testing.F) {
	f.Add("a\u009b\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		var before, after string
		got := EscapeJSON(raw)
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(got, &after) != nil || before != after {
			t.Errorf("%q came back as %q", before, after)
		}
		if strings.ContainsFunc(string(got), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }) {
			t.Errorf("%q holds control characters", got)
		}
	})
}
