package api

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// meaning is everything that the rest of the package takes from a chunk.
type meaning struct {
	bearing      bearing
	finish       string
	message      string
	isError      bool
	usage, timed bool
}

func meaningOf(c *chunk) meaning {
	m := meaning{bearing: c.bearing(), finish: c.finish(), usage: c.Usage != nil, timed: c.Timings != nil}
	m.message, m.isError = errorText(c)
	return m
}

// agree checks that the quick decode reads data as the full one does, if it
// reads it at all.
func agree(t *testing.T, p *quickChunk, data []byte) (taken bool) {
	t.Helper()
	quick, taken := p.decode(data)
	if !taken {
		return false
	}
	full, err := decodeChunk(data)
	if err != nil {
		t.Errorf("%s: only the quick decode takes it: %v", data, err)
		return true
	}
	if got, want := meaningOf(quick), meaningOf(&full); got != want {
		t.Errorf("%s: read as %+v, want %+v", data, got, want)
	}
	return true
}

func TestQuickChunks(t *testing.T) {
	answer, thought, nothing := bearing{answer: true}, bearing{reasoning: true}, bearing{}
	for _, c := range []struct {
		json string
		want bearing
	}{
		{`{"choices":[{"delta":{"content":"a"}}]}`, answer},
		{`{"choices":[{"delta":{"content":"\""}}]}`, answer},
		{`{"choices":[{"delta":{"content":"\u00e4\n"}}]}`, answer},
		{`{"choices":[{"delta":{"content":""}}]}`, nothing},
		{`{"choices":[{"delta":{"content":null}}]}`, nothing},
		{`{"choices":[{"delta":{}}]}`, nothing},
		{`{"choices":[{"delta":{"role":"assistant","content":"a"}}],"usage":null}`, answer},
		{`{"choices":[{"delta":{"role":null,"content":null,"reasoning_content":"a","tool_calls":null}}]}`, thought},
		{`{"choices":[{"delta":{"reasoning":"a"}}]}`, thought},
		{`{"choices":[{"delta":{"refusal":"a"}}]}`, answer},
		{`{"choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null,"stop_reason":null}]}`, answer},
		{`{ "id" : "x" , "created" : 17.5 , "object":"chat.completion.chunk","choices" : [ { "delta" : { "content" : "a" } , "index" : -0 } ] }`, answer},
		{`{"choices":[{"delta":{"content":"a"},"content_filter_results":{"hate":{"filtered":false,"levels":[1,2,true,{}]}}}]}`, answer},
	} {
		var p quickChunk
		if got, ok := p.decode([]byte(c.json)); !ok || got.bearing() != c.want {
			t.Errorf("%s: taken %v, want %+v", c.json, ok, c.want)
		}
		agree(t, &p, []byte(c.json))
	}
}

func TestUnusualChunksAreLeftToTheFullDecode(t *testing.T) {
	for _, json := range []string{
		``, `{}`, `[]`, `null`, `{"choices":[]}`, `{"choices":null}`, `{"choices":{}}`,
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
		`{"choices":[{"delta":{"content":"a"}}],"error":{"message":"x"}}`,
		`{"choices":[{"delta":{"content":"a"}}],"error":false}`,
		`{"choices":[{"delta":{"content":"a"}}],"object":"error"}`,
		`{"choices":[{"delta":{"content":"a"}}],"object":"err\u006fr"}`,
		`{"choices":[{"delta":{"content":"a"}}],"object":5}`,
		`{"choices":[{"delta":{"content":"a"}}],"message":"x","code":5}`,
		`{"choices":[{"delta":{"content":"a","content":""}}]}`,
		`{"choices":[{"delta":{"content":"a"},"delta":{}}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"choices":[{"delta":{}}]}`,
		`{"choices":[{"delta":{"content":["a"]}}]}`,
		`{"choices":[{"delta":{"Content":"a"}}]}`,
		`{"choices":[{"delta":{"c\u006fntent":"a"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}}]}}]}`,
		`{"choices":[{"delta":{"content":"a}}]}`,
		`{"choices":[{"delta":{"content":"\x"}}]}`,
		`{"choices":[{"delta":{"content":"\u00g0"}}]}`,
		"{\"choices\":[{\"delta\":{\"content\":\"\x01\"}}]}",
		`{"choices":[{"delta":{"content":"a"},"index":01}]}`,
		`{"choices":[{"delta":{"content":"a"},"index":-}]}`,
		`{"choices":[{"delta":{"content":"a"},"index":1.}]}`,
		`{"choices":[{"delta":{"content":"a"},}]}`,
		`{"choices":[{"delta":{"content":"a"}}]} x`,
		`{"choices":[{"delta":{"content":"a"}}]`,
		`{"choices":[{"delta":{"content":"a"}}],"x":[[[[[[[[[[[[0]]]]]]]]]]]]}`,
		`{"choices":[{"delta":{"content":"a"}}],"x":[1,2}`,
		`{"choices":[{"delta":{"content":"a"}}],"x":nul}`,
	} {
		var p quickChunk
		if _, ok := p.decode([]byte(json)); ok {
			t.Errorf("%s was taken", json)
		}
	}
}

// recordedObjects are the data of all recorded replies, line by line.
func recordedObjects(t testing.TB) [][]byte {
	names, _ := filepath.Glob("testdata/streams/*")
	var objects [][]byte
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(body, []byte("\n")) {
			objects = append(objects, bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:"))))
		}
	}
	return objects
}

func TestQuickDecodeAgreesOnRecordedReplies(t *testing.T) {
	var p quickChunk // one for all: nothing of a chunk may stay for the next
	objects, taken := recordedObjects(t), 0
	for _, data := range objects {
		if agree(t, &p, data) {
			taken++
		}
	}
	if taken < 130 { // of about 150 with text, in replies to OpenAI's API
		t.Errorf("only %d of %d lines take the quick way", taken, len(objects))
	}
}

// TestQuickDecodeAgreesOnMixtures puts chunks together from sound and broken
// parts at random: the closer to the real shape, the further both decodes get.
func TestQuickDecodeAgreesOnMixtures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	mostly := func(sound string, broken ...string) string {
		if rng.IntN(20) > 0 {
			return sound
		}
		return pick(broken...)
	}
	value := func() string {
		return mostly(pick(`"a"`, `""`, `null`, `null`, `null`), `"\""`, `"\\"`, `"\u00e4"`, `"\ud83d"`, `"ä"`, "\"\xff\"", `"error"`,
			`0`, `-1.5`, `1e5`, `01`, `true`, `false`, `{}`, `[]`, `[1,{"a":[]}]`, `{"content":"a"}`, `["a"]`, ``, `"`, `nul`, `"\x"`)
	}
	object := func(names ...string) string {
		var fields []string
		for range rng.IntN(4) {
			fields = append(fields, `"`+pick(names...)+`"`+mostly(":", " : ", "")+value())
		}
		return "{" + strings.Join(fields, mostly(",", " , ", ""))
	}
	after := func(fields, field string) string {
		if fields == "{" {
			return "{" + mostly("", ",") + field
		}
		return fields + mostly(",", "") + field
	}
	p, taken := quickChunk{}, 0
	for range 30_000 {
		delta := object("content", "content", "reasoning", "reasoning_content", "refusal", "role", "tool_calls", "function_call", "Content", "x") + mostly("}", "")
		choice := after(object("index", "text", "logprobs", "finish_reason", "message", "delta", "x"), `"delta":`+delta) + mostly("}", ",}", "")
		top := after(object("id", "object", "created", "model", "usage", "error", "type", "message", "detail", "code", "timings", "x"),
			`"choices":[`+choice+mostly("]", "]", ","+choice+"]", "")) + mostly("}", "} x", "")
		if agree(t, &p, []byte(top)) {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("only %d mixtures take the quick way", taken)
	}
}

func FuzzQuickChunk(f *testing.F) {
	for _, data := range recordedObjects(f) {
		if len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, &quickChunk{}, data)
	})
}

// TestOrdinary puts every byte at every place of a text and looks where the text
// stops standing for itself.
func TestOrdinary(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := bytes.Repeat([]byte{0xff}, length)
				text[at] = byte(c)
				want := length
				if c < ' ' || c == '"' || c == '\\' {
					want = at
				}
				if got := ordinary(text); got != want {
					t.Fatalf("%q: %d bytes are ordinary, want %d", text, got, want)
				}
			}
		}
	}
}

func TestQuickDecodeAllocatesNothing(t *testing.T) {
	var p quickChunk
	data := []byte(`{"id":"x","created":1,"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`)
	if n := testing.AllocsPerRun(100, func() {
		if c, ok := p.decode(data); !ok || !c.bearing().answer {
			t.Fatal("not read")
		}
	}); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}
