package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// Read reads a whole recording. Requests whose Frame is missing are ignored. An error comes
// with the Frames before it.
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
//
// It reads on after damage: lines that cannot be read are left out, and the next Frame
// reports them as an event and among the notes of its Target.
type Reader struct {
	lines lines

	head     Header
	requests []measure.Request // of the Frame that comes next
	kept

	newest  *frame.Frame // the last one returned, before which the damage began
	skipped int          // damaged lines since then
	damaged int          // the first of them
	notes   []string     // on all damage so far
	first   *frame.Frame // found in place of a header, and not yet returned
}

// ErrDamaged is the error of Next when what follows the newest Frame is damaged up to the
// end, or is another recording.
var ErrDamaged = errors.New("damaged")

// NewReader reads the header. A recording whose header is damaged plays without one.
func NewReader(r io.Reader) (*Reader, error) {
	reader := &Reader{lines: lines{in: bufio.NewReaderSize(r, buffer)}}
	return reader, reader.header()
}

// Header says what was recorded.
func (r *Reader) Header() Header { return r.head }

// Next returns the next whole Frame, with the requests that ended in it; io.EOF after the
// last one. A torn last line, as a crash or a full disk leaves it, is no damage.
func (r *Reader) Next() (*frame.Frame, error) {
	if f := r.first; f != nil {
		r.first = nil
		return f, nil
	}
	return r.next(math.MaxInt)
}

// next returns the Frame of one of the first lines.
func (r *Reader) next(lastLine int) (*frame.Frame, error) {
	for r.lines.number < lastLine {
		line, _, err := r.lines.next(longestLine)
		switch {
		case errors.Is(err, io.EOF) && r.skipped > 0:
			return nil, fmt.Errorf("it is %w from line %d on", ErrDamaged, r.damaged)
		case err != nil:
			return nil, err
		case bytes.HasPrefix(line, []byte(headerStart)):
			return nil, fmt.Errorf("it is %w: another recording begins at line %d, split the file before it", ErrDamaged, r.lines.number)
		}
		f, err := r.take(bytes.TrimSpace(line))
		if err != nil {
			f = r.salvage(line)
			if f == nil && r.skipped == 0 && r.lines.ended() {
				return nil, io.EOF
			}
			if r.skipped++; r.skipped == 1 {
				r.damaged = r.lines.number
			}
		}
		if f != nil {
			r.report(f)
			return f, nil
		}
	}
	return nil, io.EOF
}

// salvage reads the whole line that follows a torn one on the same line: what was written
// after a crash follows the torn line, or the zeros that a file system left in its place.
func (r *Reader) salvage(line []byte) *frame.Frame {
	start := bytes.LastIndex(line, []byte(`{"type":"`))
	if start <= 0 {
		return nil
	}
	f, _ := r.take(bytes.TrimSpace(line[start:]))
	return f
}

// report adds to a Frame which lines before it were damaged.
func (r *Reader) report(f *frame.Frame) {
	if r.skipped > 0 {
		from := "the start"
		if r.newest != nil {
			from = units.Clock(r.newest.At)
		}
		text := fmt.Sprintf("%s of the recording left out from %s to %s", units.Count(r.skipped, "damaged line"), from, units.Clock(f.At))
		f.Events = append(f.Events, frame.Event{At: f.At, Kind: frame.EventNote, Text: text})
		r.notes = append(r.notes, text)
	}
	f.Target.Notes = slices.Concat(f.Target.Notes, r.notes)
	r.newest, r.skipped = f, 0
}

// headerStart begins a header as the Writer writes it.
const headerStart = `{"type":"` + typeHeader + `",`

// headerLines is how far into a file the first Frame is looked for if there is no header.
const headerLines = 1000

func (r *Reader) header() error {
	line, _, err := r.lines.next(longestHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(line, []byte("\x1f\x8b")):
		return errors.New("it is compressed with gzip: unpack it first, with gzip -dc FILE > run.jsonl")
	case bytes.HasPrefix(line, []byte("\xff\xfe")), bytes.HasPrefix(line, []byte("\xfe\xff")):
		return errors.New("it is UTF-16: convert it to UTF-8 first")
	}
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // a byte-order mark
	var h headerLine
	if json.Unmarshal(line, &h) != nil || h.Type != typeHeader {
		return r.withoutHeader(line)
	}
	if h.Schema != Schema {
		return fmt.Errorf("the recording has the format %q, this program reads %q", h.Schema, Schema)
	}
	r.head = h.Header
	return nil
}

// withoutHeader looks for the first Frame of a recording whose header is damaged.
func (r *Reader) withoutHeader(line []byte) error {
	r.skipped, r.damaged = 1, 1
	f := r.salvage(append([]byte{' '}, line...)) // when only the header is missing
	if f == nil {
		var err error
		if f, err = r.next(headerLines); err != nil {
			return errors.New("not a sonde recording: its first line is not a header")
		}
	} else {
		r.report(f)
	}
	r.first = f
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
		if r.newest != nil && l.Seq <= r.newest.Seq {
			return nil, errors.New("the frame is not later than the one before it")
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

// kept are the parts of Frames that hold until they change.
type kept struct {
	target frame.Target
	engine engine.Status
	gpu    gpu.Status
}

// keep takes what a Frame's line has of them.
func (r *kept) keep(l *frameLine) {
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
	size   int64  // of the newest line in the file
	long   []byte // a line that in's buffer does not hold
}

// next returns the next line with its end, valid until the next call; whole reports
// whether it has an end. A longer line is returned without its rest. After the last line
// comes io.EOF.
func (l *lines) next(longest int) (line []byte, whole bool, err error) {
	l.number++
	l.size = 0
	line, err = l.in.ReadSlice('\n')
	l.size = int64(len(line))
	if err != nil {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.in.ReadSlice('\n')
			l.size += int64(len(line))
			l.long = append(l.long, line[:min(len(line), max(0, longest-len(l.long)))]...)
		}
		line = l.long
	}
	switch {
	case err == nil:
		return line[:min(len(line), longest)], true, nil
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
