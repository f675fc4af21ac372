package prompt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"
)

// File hands out the prompts of a file in their order, and begins again at the
// end.
type File struct {
	prompts []Prompt
	next    atomic.Uint64
}

// maxLine bounds one line of a prompt file.
const maxLine = 16 << 20

// Read reads a prompt file: JSON lines with "prompt" or "messages", and "max_tokens" if
// a line sets the length of its answer; or plain text, one prompt per line, with any blanks
// at its ends. Blank lines are skipped; invalid JSON is an error that names the line.
func Read(r io.Reader, name string) (*File, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var f File
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // byte order mark
		}
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("%s, line %d: not UTF-8", name, n)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		f.prompts = append(f.prompts, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(f.prompts) == 0 {
		return nil, fmt.Errorf("%s contains no prompts: put one on each line, as text or as {\"prompt\": …}", name)
	}
	return &f, nil
}

func parseLine(line []byte) (Prompt, error) {
	if bytes.TrimSpace(line)[0] != '{' {
		return Prompt{Text: string(line)}, nil
	}
	var rec struct {
		Prompt   *string         `json:"prompt"`
		Messages json.RawMessage `json:"messages"`

		// The longest answer, under its two names in the API.
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return Prompt{}, fmt.Errorf("invalid JSON: %w", err)
	}
	longest := max(rec.MaxTokens, rec.MaxCompletionTokens)
	if min(rec.MaxTokens, rec.MaxCompletionTokens) < 0 {
		return Prompt{}, fmt.Errorf("max_tokens cannot be negative")
	}
	switch {
	case len(rec.Messages) > 0 && rec.Messages[0] == '[':
		return Prompt{Messages: rec.Messages, MaxTokens: longest}, nil
	case rec.Prompt != nil:
		return Prompt{Text: *rec.Prompt, MaxTokens: longest}, nil
	}
	return Prompt{}, fmt.Errorf(`needs "prompt" (a string) or "messages" (a list)`)
}

// HasMessages reports whether any prompt is a list of messages, which only the
// chat endpoint takes.
func (f *File) HasMessages() bool {
	for _, p := range f.prompts {
		if len(p.Messages) > 0 {
			return true
		}
	}
	return false
}

// Next is the file's next prompt.
func (f *File) Next(int) Prompt {
	n := f.next.Add(1) - 1
	return f.prompts[n%uint64(len(f.prompts))]
}

// Learn does nothing: a file's prompts are sent as they are.
func (f *File) Learn(Prompt, int) {}
