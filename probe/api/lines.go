package api

import (
	"bytes"
	"errors"
	"io"
)

// maxLineBytes bounds one line of a stream: a longer one fails its request and
// nothing else.
const maxLineBytes = 32 << 20

var errLineTooLong = errors.New("one line of the stream is over 32 MiB")

// lineReader cuts a stream into lines that end with LF, CRLF or CR, and hands
// each out as soon as its end mark is there. It never waits to see whether a
// CR is followed by an LF, and never reads while a whole line is at hand: the
// newest arrival stamp below it belongs to the line it returned.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int  // unread bytes
	scanned    int  // of these, known to hold no end mark
	afterCR    bool // an LF that comes next belongs to the CR before
	bomDone    bool
	err        error
}

const lineBufferBytes = 8 << 10

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: r, buf: make([]byte, lineBufferBytes)}
}

// next returns one line without its end mark; it stays valid until the next
// call. The rest of a body that ends without an end mark is a line too, before
// io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		if line, ok := l.take(); ok {
			return line, nil
		}
		if l.err != nil {
			return l.rest()
		}
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) take() ([]byte, bool) {
	if l.afterCR && l.start < l.end {
		if l.buf[l.start] == '\n' {
			l.start++
		}
		l.afterCR = false
	}
	if l.scanned < l.start {
		l.scanned = l.start
	}
	i := bytes.IndexAny(l.buf[l.scanned:l.end], "\r\n")
	if i < 0 {
		l.scanned = l.end
		return nil, false
	}
	at := l.scanned + i
	line := l.buf[l.start:at]
	l.afterCR = l.buf[at] == '\r'
	l.start = at + 1
	return l.withoutBOM(line), true
}

func (l *lineReader) rest() ([]byte, error) {
	if l.start == l.end {
		return nil, l.err
	}
	line := l.buf[l.start:l.end]
	l.start = l.end
	return l.withoutBOM(line), nil
}

func (l *lineReader) fill() error {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.scanned = max(0, l.scanned-l.start)
		l.start = 0
	}
	if l.end == len(l.buf) {
		if len(l.buf) >= maxLineBytes {
			return errLineTooLong
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	l.err = err
	return nil
}

// withoutBOM drops the byte order mark that may open a stream.
func (l *lineReader) withoutBOM(line []byte) []byte {
	if l.bomDone {
		return line
	}
	l.bomDone = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}
