package api

import (
	"bytes"
	"errors"
)

// maxLineBytes bounds one line of a stream: a longer one fails its request and
// nothing else.
const maxLineBytes = 32 << 20

var errLineTooLong = errors.New("one line of the stream is over 32 MiB")

// lineReader cuts a body into lines that end with LF, CRLF or CR, and hands each
// out as soon as its end mark is there. It never waits to see whether a CR is
// followed by an LF, and asks for no further piece while a whole line is at
// hand: the newest arrival stamp below it belongs to the line it returned.
//
// A line that arrived in one piece is handed out where it lies; only one that
// came in several is put together in a buffer.
type lineReader struct {
	body    segments
	piece   []byte // what is left of the newest piece
	parts   []byte // the front of a line whose end has not come
	afterCR bool   // an LF that comes next belongs to the CR before
	bomDone bool
	err     error // of the body
}

func newLineReader(body segments) *lineReader { return &lineReader{body: body} }

// next returns one line without its end mark; it stays valid until the next
// call. The rest of a body that ends without an end mark is a line too, before
// io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, ok, err := l.take()
		if ok || err != nil {
			return line, err
		}
		if l.err == nil {
			l.piece, l.err = l.body.next()
		}
		if l.err != nil {
			return l.rest()
		}
	}
}

// take cuts the next line off what is at hand; not ok if its end is not there.
func (l *lineReader) take() (line []byte, ok bool, err error) {
	if l.afterCR && len(l.piece) > 0 {
		l.piece = bytes.TrimPrefix(l.piece, []byte("\n"))
		l.afterCR = false
	}
	i := endMark(l.piece)
	if i < 0 {
		err := l.keep(l.piece)
		l.piece = nil
		return nil, false, err
	}
	line, l.afterCR = l.piece[:i], l.piece[i] == '\r'
	l.piece = l.piece[i+1:]
	if len(l.parts) > 0 {
		err = l.keep(line)
		line, l.parts = l.parts, l.parts[:0]
	}
	return l.withoutBOM(line), err == nil, err
}

// endMark is the index of the first line end in b, −1 without one.
func endMark(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// keep appends to the line that is being put together.
func (l *lineReader) keep(part []byte) error {
	if len(l.parts)+len(part) > maxLineBytes {
		return errLineTooLong
	}
	l.parts = append(l.parts, part...)
	return nil
}

func (l *lineReader) rest() ([]byte, error) {
	if len(l.parts) == 0 {
		return nil, l.err
	}
	line := l.parts
	l.parts = nil
	return l.withoutBOM(line), nil
}

// withoutBOM drops the byte order mark that may open a stream.
func (l *lineReader) withoutBOM(line []byte) []byte {
	if l.bomDone {
		return line
	}
	l.bomDone = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}
