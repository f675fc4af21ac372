package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sonde/probe/plain"
)

// File is a recording on disk. Opening it reads its two ends; what lies between
// is read on demand.
type File struct {
	file   *os.File
	header Header
	first  time.Duration // of the first Frame
	last   time.Duration // of the last whole one
	index  index
}

// Open opens a recording. The error says what is wrong with the file at path.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain.Cause(err))
	}
	f := &File{file: file}
	if err := f.open(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, plain.Cause(err))
	}
	return f, nil
}

func (f *File) open() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file: playing a recording needs one, to move back and forth in it")
	}
	r, err := NewReader(f.section(0))
	if err != nil {
		return err
	}
	frame, err := r.Next()
	if errors.Is(err, io.EOF) {
		return errors.New("the recording has no frames")
	}
	if err != nil {
		return err
	}
	f.header, f.first, f.last = r.Header(), frame.At, frame.At
	return f.findLast(info.Size())
}

// section is the file from an offset on, with a position of its own.
func (f *File) section(from int64) *io.SectionReader {
	return io.NewSectionReader(f.file, from, 1<<62)
}

// The tail that is searched for the last Frame: it grows, because a Frame may be
// large, up to a bound.
const (
	shortTail = 1 << 20
	longTail  = 64 << 20
)

// findLast reads when the last whole Frame was.
func (f *File) findLast(size int64) error {
	for tail := int64(shortTail); ; tail *= 8 {
		from := max(0, size-tail)
		raw, err := io.ReadAll(io.NewSectionReader(f.file, from, size-from))
		if err != nil {
			return err
		}
		for len(raw) > 0 {
			start := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
			if start == 0 && from > 0 {
				break // its beginning may lie before the tail
			}
			if line := bytes.TrimSpace(raw[start:]); json.Valid(line) {
				if at, ok := frameAt(line); ok {
					f.last = max(f.last, at)
					return nil
				}
			}
			raw = raw[:start]
		}
		if from == 0 || tail >= longTail {
			return nil
		}
	}
}

// Header says what was recorded.
func (f *File) Header() Header { return f.header }

// Span is when the first and the last Frame were, since the session began.
func (f *File) Span() (first, last time.Duration) { return f.first, f.last }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// From returns a Reader whose first Frame is at most a few seconds before at. What
// lies before is scanned once, and only as far as needed; ctx ends that.
func (f *File) From(ctx context.Context, at time.Duration) (*Reader, error) {
	c, err := f.index.before(ctx, f, at)
	if err != nil {
		return nil, err
	}
	if c.offset == 0 {
		return NewReader(f.section(0))
	}
	return &Reader{lines: lines{in: bufio.NewReaderSize(f.section(c.offset), buffer), number: c.line}, head: f.header, kept: c.kept}, nil
}
