package api

import (
	"bufio"
	"bytes"
	"io"
)

// maxLineBytes bounds one line of a stream: a longer one fails its request and
// nothing else.
const maxLineBytes = 32 << 20

// newLines cuts a body into lines that end with LF, CRLF or CR, and hands each
// out as soon as its end mark is there. It never waits to see whether a CR is
// followed by an LF, and asks for no more while a whole line is at hand: the newest
// arrival stamp below it belongs to the line it returned.
func newLines(body io.Reader, buf []byte) *bufio.Scanner {
	lines := bufio.NewScanner(body)
	lines.Buffer(buf, maxLineBytes)
	lines.Split((&lineSplit{}).split)
	return lines
}

// lineSplit is a split function that remembers where it is.
type lineSplit struct {
	searched int  // bytes of the present line that hold no end mark
	afterCR  bool // an LF that comes next belongs to the CR before
	begun    bool // a byte order mark may only open the stream
}

func (s *lineSplit) split(data []byte, atEnd bool) (advance int, line []byte, err error) {
	lf := 0
	if s.afterCR && len(data) > 0 {
		if data[0] == '\n' {
			lf = 1
		}
		s.afterCR = false
	}
	rest := data[lf:]
	end := endMark(rest[s.searched:])
	switch {
	case end >= 0:
		end += s.searched
		s.afterCR = rest[end] == '\r'
		line, advance = rest[:end], lf+end+1
	case atEnd && len(rest) > 0:
		line, advance = rest, len(data)
	default:
		s.searched = len(rest)
		return lf, nil, nil
	}
	s.searched = 0
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return advance, line, nil
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
