package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Read reads a whole recording. A torn last line, as a crash or a full disk
// leaves it, is ignored, and so are requests whose Frame is missing. Any other
// fault is an error that names the line, with the Frames before it.
func Read(r io.Reader) (Header, []*frame.Frame, error) {
	reader, err := NewReader(r)
	if err != nil {
		return Header{}, nil, err
	}
	var frames []*frame.Frame
	for {
		f, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return reader.Header(), frames, nil
		}
		if err != nil {
			return reader.Header(), frames, err
		}
		frames = append(frames, f)
	}
}

// Reader returns the Frames of a recording one by one, so that a long one needs no
// more memory than a short one. It belongs to one goroutine.
type Reader struct {
	lines lines

	head     Header
	requests []measure.Request // of the Frame that comes next
	target   frame.Target
	engine   engine.Status
	gpu      gpu.Status
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	reader := &Reader{lines: lines{in: bufio.NewReaderSize(r, buffer)}}
	return reader, reader.header()
}

// Header says what was recorded.
func (r *Reader) Header() Header { return r.head }

// Next is the next Frame, with the requests that ended in it; io.EOF after the
// last one that is whole.
func (r *Reader) Next() (*frame.Frame, error) {
	for {
		line, _, err := r.lines.next(longestLine)
		if err != nil {
			return nil, err
		}
		f, err := r.take(bytes.TrimSpace(line))
		switch {
		case f != nil:
			return f, nil
		case err != nil && r.lines.ended():
			return nil, io.EOF
		case err != nil:
			return nil, fmt.Errorf("line %d of the recording: %w", r.lines.number, err)
		}
	}
}

func (r *Reader) header() error {
	line, _, err := r.lines.next(longestHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var h headerLine
	if json.Unmarshal(line, &h) != nil || h.Type != typeHeader {
		return errors.New("not a sonde recording: its first line is not a header")
	}
	if h.Schema != Schema {
		return fmt.Errorf("the recording has the format %q, this program reads %q", h.Schema, Schema)
	}
	r.head = h.Header
	return nil
}

// take reads one line after the header; it returns a Frame if the line completes
// one. Unknown types are skipped: a later version wrote them.
func (r *Reader) take(line []byte) (*frame.Frame, error) {
	if len(line) == 0 {
		return nil, nil
	}
	kind, err := typeOf(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case typeRequest:
		var l requestLine
		if err := unmarshal(line, &l); err != nil {
			return nil, err
		}
		r.requests = append(r.requests, l.request())
	case typeFrame:
		var l frameLine
		if err := unmarshal(line, &l); err != nil {
			return nil, err
		}
		return r.frame(&l), nil
	}
	return nil, nil
}

// typeOf is the type of a line. Ours begins with it, which saves reading the line
// twice.
func typeOf(line []byte) (string, error) {
	for _, kind := range []string{typeRequest, typeFrame} {
		if bytes.HasPrefix(line, []byte(`{"type":"`+kind+`",`)) {
			return kind, nil
		}
	}
	var l struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(line, &l)
	return l.Type, err
}

// frame completes a Frame by what did not change since the one before.
func (r *Reader) frame(l *frameLine) *frame.Frame {
	r.keep(l)
	f := l.Frame
	if l.Err != "" {
		f.Err = errors.New(l.Err)
	}
	f.Target, f.Engine, f.GPU, f.Requests = r.target, r.engine, r.gpu, r.requests
	r.requests = nil
	return &f
}

// keep remembers the parts of a Frame's line that hold until they change.
func (r *Reader) keep(l *frameLine) {
	if l.Target != nil {
		r.target = *l.Target
	}
	if l.Engine != nil {
		r.engine = l.Engine.status()
	}
	if l.GPU != nil {
		r.gpu = *l.GPU
		r.gpu.SetReason(l.GPU.Why)
		if len(r.gpu.GPUs) == 0 {
			r.gpu.GPUs = nil
		}
	}
}

// Longest lines that can be ours: a Frame of a thousand streams has some 100 kB.
const (
	longestHeader = 1 << 20
	longestLine   = 256 << 20
)

// lines reads a recording line by line.
type lines struct {
	in     *bufio.Reader
	number int    // of the newest line
	long   []byte // a line that in's buffer does not hold
}

// next returns the next line with its end, valid until the next call; whole reports
// whether it has an end. After the last line comes io.EOF.
func (l *lines) next(longest int) (line []byte, whole bool, err error) {
	l.number++
	line, err = l.in.ReadSlice('\n')
	if err != nil {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(l.long) <= longest {
			line, err = l.in.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case len(line) > longest:
		return nil, false, fmt.Errorf("line %d of the recording is too long for a sonde recording", l.number)
	case err == nil:
		return line, true, nil
	case !errors.Is(err, io.EOF):
		return nil, false, fmt.Errorf("line %d of the recording: %w", l.number, err)
	case len(line) == 0:
		return nil, false, io.EOF
	}
	return line, false, nil
}

// ended reports whether nothing follows the newest line, which it makes invalid.
func (l *lines) ended() bool {
	_, err := l.in.Peek(1)
	return errors.Is(err, io.EOF)
}
