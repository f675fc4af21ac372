package prompt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// File hands out the prompts of a file in their order, and begins again at the
// end.
type File struct {
	prompts []Prompt
	next    atomic.Uint64
}

// maxLine bounds one line of a prompt file.
const maxLine = 16 << 20

// Read reads a prompt file: one prompt per line, as plain text with any blanks at its ends, as
// a JSON object or as a list of chat messages; or one JSON list of such objects, as data sets
// are published. Blank lines are skipped. What cannot be read as meant is an error that names
// the line.
func Read(r io.Reader, name string) (*File, error) {
	if err := notRead(name); err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(transform.NewReader(r, unicode.BOMOverride(transform.Nop)))
	var f File
	var err error
	if head, _ := buffered.Peek(headBytes); isDataSet(head) {
		err = f.readList(buffered)
	} else {
		err = f.readLines(buffered)
	}
	if err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	if len(f.prompts) == 0 {
		return nil, fmt.Errorf("%s contains no prompts: put one on each line, as text or as {\"prompt\": …}", name)
	}
	return &f, nil
}

// notRead names the formats whose lines are no prompts.
func notRead(name string) error {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".csv", ".tsv", ".parquet", ".arrow", ".xlsx", ".yaml", ".yml":
		return fmt.Errorf("%s: %s files are not supported: convert it to JSON lines with a \"prompt\" each", name, ext)
	case ".gz", ".zip", ".zst", ".bz2", ".xz":
		return fmt.Errorf("%s is compressed: unpack it first", name)
	}
	return nil
}

// headBytes is how far into a file its format shows.
const headBytes = 4 << 10

// isDataSet reports whether a file is one list of objects. A line may also be a list, of chat
// messages, and a plain text may begin with a bracket: [INST].
func isDataSet(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	for _, want := range []json.Delim{'[', '{'} {
		if token, err := d.Token(); err != nil || token != want {
			return false
		}
	}
	first, err := d.Token()
	return err == nil && first != "role" && first != "content" // messages name these first
}

// readList reads one JSON list of objects.
func (f *File) readList(r io.Reader) error {
	d := json.NewDecoder(r)
	if _, err := d.Token(); err != nil {
		return fmt.Errorf(": %w", err)
	}
	for n := 1; d.More(); n++ {
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			return fmt.Errorf(", entry %d: invalid JSON: %w", n, err)
		}
		p, err := parseObject(object)
		if err != nil {
			return fmt.Errorf(", entry %d: %w", n, err)
		}
		f.prompts = append(f.prompts, p)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf(": the list does not end: %w", err)
	}
	return nil
}

// readLines reads one prompt per line.
func (f *File) readLines(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if !utf8.Valid(line) {
			return fmt.Errorf(", line %d: not UTF-8", n)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p, err := parseLine(line)
		if err != nil {
			return fmt.Errorf(", line %d: %w", n, err)
		}
		f.prompts = append(f.prompts, p)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

func parseLine(line []byte) (Prompt, error) {
	trimmed := bytes.TrimSpace(line)
	switch {
	case trimmed[0] == '{':
		return parseObject(trimmed)
	case trimmed[0] == '[' && json.Valid(trimmed):
		return parseMessages(trimmed)
	case string(trimmed) == "[":
		return Prompt{}, errors.New("a list of messages must stand on one line")
	}
	return Prompt{Text: string(line)}, nil
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
