package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"sonde/probe/measure"
	"sonde/probe/plain"
)

// expectation is what a correct reader gets from a recorded reply.
type expectation struct {
	API         string `json:"api"`
	ContentType string `json:"content_type"`
	Status      int    `json:"http_status"`
	Chunks      int    `json:"token_chunks"`
	Text        string `json:"text"`
	TextLength  int    `json:"text_length"` // in place of a very long text
	Reasoning   string `json:"reasoning"`
	ToolArgs    string `json:"tool_args"`
	Finish      string `json:"finish"`
	Headers     map[string]string
	Usage       *struct{ Prompt, Completion int }
	Error       *struct {
		Class   string `json:"class"`
		Message string `json:"message"`
	}
}

func TestRecordedReplies(t *testing.T) {
	raw, err := os.ReadFile("testdata/streams/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expectation
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	played := 0
	for name, want := range all {
		played++
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata/streams", name))
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{len(body), 7, 1} {
				if size == 1 && len(body) > 10_000 {
					continue
				}
				res := once(t, script{head: headOf(want), steps: pieces(string(body), size)})
				compare(t, &res, want)
			}
		})
	}
	if files, _ := filepath.Glob("testdata/streams/*.txt"); played != len(files) {
		t.Errorf("%d replies were played, there are %d", played, len(files))
	}
}

// pieces writes a body in pieces of the given size.
func pieces(body string, size int) []step {
	var steps []step
	for at := 0; at < len(body); at += size {
		steps = append(steps, step{len(steps), body[at:min(at+size, len(body))]})
	}
	return steps
}

func headOf(want expectation) string {
	head := "HTTP/1.1 " + strconv.Itoa(want.Status) + " Status\r\nConnection: close\r\nContent-Type: " + want.ContentType + "\r\n"
	for name, v := range want.Headers {
		head += name + ": " + v + "\r\n"
	}
	return head + "\r\n"
}

func compare(t *testing.T, res *Result, want expectation) {
	t.Helper()
	wantClass, message := measure.OK, ""
	if want.Error != nil {
		wantClass, message = measure.Class(want.Error.Class), want.Error.Message
	}
	if wantClass == "not_streamed" { // a success without arrival times
		wantClass = measure.OK
		if res.Streamed || res.Note == "" {
			t.Errorf("streamed %v, note %q", res.Streamed, res.Note)
		}
	}
	context := res.Class == measure.ContextLength && wantClass == measure.HTTP4xx // a class of its own here
	if res.Class != wantClass && !context {
		t.Errorf("class %q (%s), want %q", res.Class, res.Error, wantClass)
	}
	if message = plain.Line(message, maxMessageRunes); message != "" && !strings.HasSuffix(res.Error, message) {
		t.Errorf("message %q, want %q", res.Error, message)
	}
	if res.Chunks != want.Chunks {
		t.Errorf("%d token-bearing chunks, want %d", res.Chunks, want.Chunks)
	}
	if want.Chunks > 0 && res.HaveAnswer != (want.Text != "" || want.TextLength > 0 || want.ToolArgs != "") {
		t.Errorf("answer seen: %v; text %q", res.HaveAnswer, want.Text)
	}
	if res.Class == measure.OK && res.Finish != want.Finish {
		t.Errorf("finish %q, want %q", res.Finish, want.Finish)
	}
	if got := len(res.Text); want.TextLength > 0 && got != want.TextLength && utf8.RuneCountInString(res.Text) != want.TextLength || want.TextLength == 0 && res.Text != want.Text {
		t.Errorf("text %q (%d bytes), want %q (%d)", res.Text, got, want.Text, want.TextLength)
	}
	if want.Usage != nil && (res.InTokens != want.Usage.Prompt || res.OutTokens != want.Usage.Completion) {
		t.Errorf("tokens %d/%d, want %d/%d", res.InTokens, res.OutTokens, want.Usage.Prompt, want.Usage.Completion)
	}
}
