package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// reading is everything that the rest of the package takes from a chunk.
type reading struct {
	bearing bearing
	finish  string
	refusal refusal
	usage   usage
}

func readingOf(c *chunk) reading { return reading{c.bearing, c.finish, c.refusal, c.usage} }

// agree checks a chunk against encoding/json: what that takes for an object is read, and
// means the same once it is written anew, with sorted fields and other escapes; and texts
// are found where a plain walk through the decoded tree finds them.
func agree(t *testing.T, d *decoder, data []byte) (taken bool) {
	t.Helper()
	c, taken := d.decode(data)
	var tree map[string]any
	if json.Unmarshal(data, &tree) != nil || tree == nil || repeatsAName(data) {
		return taken
	}
	if !taken {
		t.Errorf("%s: not read", data)
		return false
	}
	got := readingOf(c)
	anew, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	again, ok := d.decode(anew)
	if !ok {
		t.Errorf("%s: not read", anew)
	} else if want := readingOf(again); got != want && !strings.ContainsAny(got.refusal.message, "{[\x7f\ufffd") {
		t.Errorf("%s: read as %+v, written anew as %+v", data, got, want)
	}
	var texts, thoughts bool
	for _, choice := range items(lower(tree)["choices"]) {
		m := lower(choice)
		texts = texts || isText(m["text"])
		for _, name := range []string{"delta", "message"} {
			delta := lower(m[name])
			_, listed := delta["content"].([]any)
			texts = texts || !listed && isText(delta["content"]) || isText(delta["refusal"])
			thoughts = thoughts || isText(delta["reasoning"]) || isText(delta["reasoning_content"]) || isText(delta["thinking"])
		}
	}
	if texts && !got.bearing.answer || thoughts && !got.bearing.reasoning {
		t.Errorf("%s: read as %+v; text %v, reasoning %v", data, got.bearing, texts, thoughts)
	}
	return true
}

// items are those of a list or the values of an object.
func items(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		return slices.Collect(maps.Values(v))
	}
	return nil
}

func lower(v any) map[string]any {
	object, _ := v.(map[string]any)
	all := map[string]any{}
	for name, v := range object {
		if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
			name = strings.ToLower(name)
		}
		all[name] = v
	}
	return all
}

func isText(v any) bool {
	_, number := v.(float64)
	text, _ := v.(string)
	return number || text != ""
}

// repeatsAName reports whether an object has a field twice, also in another case: what
// counts then is anybody's guess.
func repeatsAName(data []byte) bool {
	type level struct {
		names  map[string]bool
		inName bool
	}
	var open []level
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	for {
		token, err := in.Token()
		if err != nil {
			return false
		}
		mark, _ := token.(json.Delim)
		if mark == '}' || mark == ']' {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			open[n-1].inName = !open[n-1].inName
			if open[n-1].inName {
				name := strings.ToLower(token.(string))
				if open[n-1].names[name] {
					return true
				}
				open[n-1].names[name] = true
				continue
			}
		}
		if mark == '{' {
			open = append(open, level{names: map[string]bool{}})
		} else if mark == '[' {
			open = append(open, level{})
		}
	}
}

func TestChunks(t *testing.T) {
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
		{`{"choices":[{"delta":{"content":""}},{"delta":{"content":"b"}}]}`, answer},
		{`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}}]}}]}`, answer},
		{`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"x":1}}}]}}]}`, answer},
		{`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}`, thought},
		{`{"Choices":[{"Delta":{"c\u006fntent":"a"}}]}`, answer},
		// What no other reader takes costs no token either.
		{"{\"choices\":[{\"delta\":{\"content\":\"\x01\t\"}}]}", answer},
		{`{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[{"logprob":-Infinity},{"logprob":NaN}]}}],}`, answer},
		{`{"choices":[{"delta":{"content":"\x"},"index":01}]}`, answer},
		{`{"choices":[{"delta":{"content":"a"}}],"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, answer},
		// A token of digits may come as a number.
		{`{"choices":[{"delta":{"content":6}}]}`, answer},
		{`{"choices":[{"text":-6.5}]}`, answer},
		{`{"choices":[{"delta":{"reasoning":0}}]}`, thought},
		{`{"choices":[{"delta":{"content":false,"refusal":false,"tool_calls":"x","function_call":5}}]}`, nothing},
		{`{"choices":[null,5,"x",[],{"delta":7}]}`, nothing},
	} {
		var d decoder
		if got, ok := d.decode([]byte(c.json)); !ok || got.bearing != c.want {
			t.Errorf("%.200s: read %v, %+v, want %+v", c.json, ok, got, c.want)
		}
		agree(t, &d, []byte(c.json))
	}
}

func TestWhatIsNoWholeObject(t *testing.T) {
	for _, json := range []string{
		``, `[]`, `null`, `5`, `"x"`, `{`, `}`, `{]`, `x{}`, `{} x`, `{}{}`,
		`{"choices":[{"delta":{"content":"a}}]}`,
		`{"choices":[{"delta":{"content":"a"}}]`,
		`{"choices":[{"delta":{"content":"a"}}]} x`,
		`{"choices"}`, `{"choices":}`, `{"choices":"\"`, `{5:6}`, `{x}`,
	} {
		var d decoder
		if c, ok := d.decode([]byte(json)); ok {
			t.Errorf("%s was read as %+v", json, c)
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

func TestRecordedRepliesAgree(t *testing.T) {
	var d decoder // one for all: nothing of a chunk may stay for the next
	objects, taken := recordedObjects(t), 0
	for _, data := range objects {
		if agree(t, &d, data) {
			taken++
		}
	}
	if taken < 150 {
		t.Errorf("only %d of %d lines were read", taken, len(objects))
	}
}

// TestMixturesAgree puts chunks together from sound and broken parts at random: the closer
// to the real shape, the further the decoder gets.
func TestMixturesAgree(t *testing.T) {
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
			`0`, `-1.5`, `1e5x`, `01`, `true`, `false`, `{}`, `[]`, `[1,{"a":[]}]`, `{"content":"a"}`, `["a"]`, ``, `"`, `nul`, `"\x"`)
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
	d, taken := decoder{}, 0
	for range 30_000 {
		delta := object("content", "content", "reasoning", "reasoning_content", "refusal", "role", "tool_calls", "function_call", "Content", "x") + mostly("}", "")
		choice := after(object("index", "text", "logprobs", "finish_reason", "message", "delta", "x"), `"delta":`+delta) + mostly("}", ",}", "")
		top := after(object("id", "object", "created", "model", "usage", "error", "type", "message", "detail", "code", "timings", "x"),
			`"choices":[`+choice+mostly("]", "]", ","+choice+"]", "")) + mostly("}", "} x", "")
		if agree(t, &d, []byte(top)) {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("only %d mixtures were read", taken)
	}
}

func FuzzChunk(f *testing.F) {
	for _, data := range recordedObjects(f) {
		if len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, &decoder{}, data)
	})
}

func TestDecodingAllocatesNothing(t *testing.T) {
	var d decoder
	data := []byte(`{"id":"x","created":1,"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`)
	if n := testing.AllocsPerRun(100, func() {
		if c, ok := d.decode(data); !ok || !c.bearing.answer {
			t.Fatal("not read")
		}
	}); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}
