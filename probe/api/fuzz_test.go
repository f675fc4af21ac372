package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// FuzzStream: arbitrary bytes never panic, never hang, and read the same whether
// they come at once or one by one.
func FuzzStream(f *testing.F) {
	for _, body := range smallFixtures() {
		f.Add(body)
	}
	f.Add([]byte("\xef\xbb\xbfdata: {}\r\rdata:[DONE]"))
	f.Fuzz(func(t *testing.T, body []byte) {
		chunks, err := readAll(bytes.NewReader(body))
		slow, slowErr := readAll(iotest.OneByteReader(bytes.NewReader(body)))
		if chunks != slow || (err == nil) != (slowErr == nil) {
			t.Errorf("at once: %d chunks, %v; byte by byte: %d, %v", chunks, err, slow, slowErr)
		}
	})
}

// smallFixtures are the recorded streams of a length that a fuzzer can work with.
func smallFixtures() (bodies [][]byte) {
	names, _ := filepath.Glob("testdata/streams/*.txt")
	for _, name := range names {
		if body, err := os.ReadFile(name); err == nil && len(body) < 5000 {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

func readAll(r io.Reader) (chunks int, err error) {
	s := stream{lines: newLines(r, nil), sink: func(*chunk) { chunks++ }}
	return chunks, s.read()
}

func TestHugeLines(t *testing.T) {
	big := content(string(bytes.Repeat([]byte("x"), 2<<20)))
	chunks, err := readAll(bytes.NewReader([]byte(big + finished("stop") + doneMark)))
	if chunks != 2 || err != nil {
		t.Errorf("a line of 2 MiB: %d chunks, %v", chunks, err)
	}
	_, err = readAll(io.LimitReader(endless{}, 80<<20))
	if !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("a line of 80 MiB: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
