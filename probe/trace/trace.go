// Package trace reads files that say when requests came and how long they were: the traces
// that are published of real services, and our own recordings.
package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"sonde/probe/arrivals"
	"sonde/probe/plain"
)

// Read reads the trace in a file; its format shows in its content.
func Read(path string) (*arrivals.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain.Cause(err))
	}
	defer file.Close()
	list, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	t := &arrivals.Trace{Name: filepath.Base(path), Arrivals: list}
	for i := range list {
		if a := &list[i]; a.In == 0 || a.Out == 0 {
			t.Empty++
			a.In, a.Out = max(1, a.In), max(1, a.Out)
		}
	}
	begin(t)
	return t, nil
}

// begin puts arrivals into their order, the first at 0.
func begin(t *arrivals.Trace) {
	slices.SortStableFunc(t.Arrivals, func(a, b arrivals.Arrival) int { return cmp.Compare(a.At, b.At) })
	if len(t.Arrivals) == 0 {
		return
	}
	first := t.Arrivals[0].At
	for i := range t.Arrivals {
		t.Arrivals[i].At -= first
	}
}

// Bounds of a line, and of what it may say.
const (
	maxLine   = 16 << 20
	maxTokens = 10_000_000
	maxTime   = 10 * 365 * 24 * time.Hour
)

var errUnknown = errors.New(" is no trace of a known kind: JSON lines with timestamp, input_length and output_length (Mooncake), CSV with " +
	"TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or Timestamp,Request tokens,Response tokens (BurstGPT), or a recording by sonde")

// parse reads arrivals in whatever order they stand in. What its errors say follows the name of the file.
func parse(r io.Reader) ([]arrivals.Arrival, error) {
	in := bufio.NewReaderSize(transform.NewReader(r, unicode.BOMOverride(transform.Nop)), 64<<10)
	head, _ := in.Peek(16 << 10)
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte("PK")) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return nil, errors.New(" is compressed: unpack it first")
	}
	first := bytes.TrimSpace(head)
	if line, _, more := bytes.Cut(first, []byte{'\n'}); more {
		first = bytes.TrimSpace(line)
	}
	var list []arrivals.Arrival
	var err error
	switch {
	case len(first) == 0:
		return nil, errors.New(" is empty")
	case first[0] == '{' && isRecording(first):
		if list, err = parseRecording(in); err != nil {
			err = fmt.Errorf(": %w", err)
		}
	case first[0] == '{':
		list, err = parseLines(in, mooncake)
	default:
		var row func([]byte) (arrivals.Arrival, error)
		if row = csvRow(string(first)); row == nil {
			return nil, errUnknown
		}
		list, err = parseLines(in, row)
	}
	if err == nil && len(list) == 0 {
		err = errors.New(" holds no requests")
	}
	return list, err
}

// errHeading is a line that holds no arrival, and no mistake.
var errHeading = errors.New("a heading")

// parseLines reads an arrival from every line that is not blank.
func parseLines(r io.Reader, parse func([]byte) (arrivals.Arrival, error)) ([]arrivals.Arrival, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var list []arrivals.Arrival
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		a, err := parse(line)
		switch {
		case errors.Is(err, errHeading):
			continue
		case err == nil:
			err = check(&a)
		}
		if err != nil {
			return nil, fmt.Errorf(", line %d: %w", n, err)
		}
		list = append(list, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf(", line %d: %w", n, err)
	}
	return list, nil
}

func check(a *arrivals.Arrival) error {
	for _, tokens := range []int{a.In, a.Out} {
		if tokens < 0 || tokens > maxTokens {
			return fmt.Errorf("%d tokens: must be 0 to %d", tokens, maxTokens)
		}
	}
	return nil
}
