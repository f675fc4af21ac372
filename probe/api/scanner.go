package api

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// scanner steps through JSON. It is stricter than JSON: what it accepts is
// well formed, and what it refuses may be too.
type scanner struct {
	data []byte
	at   int
}

// maxSkipDepth bounds the nesting of skipped values.
const maxSkipDepth = 8

// name reads the name of a field. Only plain lower-case names are taken: the
// full decode matches others to its fields regardless of case.
func (s *scanner) name() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	rest := s.data[s.at:]
	n := 0
	for n < len(rest) && inName[rest[n]] {
		n++
	}
	if n == len(rest) || rest[n] != '"' {
		return nil, false
	}
	s.at += n + 1
	return rest[:n], true
}

// inName marks the characters of plain names.
var inName = func() (set [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789_") {
		set[c] = true
	}
	return set
}()

// skip skips any value.
func (s *scanner) skip(depth int) bool {
	s.space()
	if s.at == len(s.data) || depth > maxSkipDepth {
		return false
	}
	switch s.data[s.at] {
	case '"':
		_, ok := s.text()
		return ok
	case '{':
		return s.skipMembers('{', '}', depth)
	case '[':
		return s.skipMembers('[', ']', depth)
	case 'n':
		return s.null()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	}
	return s.number()
}

func (s *scanner) skipMembers(open, end byte, depth int) bool {
	if s.take(open); s.take(end) {
		return true
	}
	for {
		if open == '{' {
			if _, ok := s.name(); !ok || !s.take(':') {
				return false
			}
		}
		if !s.skip(depth + 1) {
			return false
		}
		if !s.take(',') {
			return s.take(end)
		}
	}
}

// text reads a string, quotes and escapes included.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	first := s.at - 1
	for {
		s.at += ordinary(s.data[s.at:])
		if s.at == len(s.data) {
			return nil, false
		}
		switch s.data[s.at] {
		case '"':
			s.at++
			return s.data[first:s.at], true
		case '\\':
			n := escapeLength(s.data[s.at:])
			if n == 0 {
				return nil, false
			}
			s.at += n
		default: // a control character
			return nil, false
		}
	}
}

// ordinary is how many bytes at the front of b stand for themselves in a
// string: none of them is a quote, a backslash or a control character. It looks
// at eight at a time; the bit tricks are those of "Hacker's Delight", where the
// lowest mark is always right.
func ordinary(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, back := w^ones*'"', w^ones*'\\'
		marks := ((quote-ones)&^quote | (back-ones)&^back | (w-ones*' ')&^w) & high
		if marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// escapeLength is the length of the escape at the front of b, 0 if there is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	const length = len(`\u0000`)
	if len(b) < length {
		return 0
	}
	for _, c := range b[2:length] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return 0
		}
	}
	return length
}

// number reads an integer or a decimal fraction without an exponent.
func (s *scanner) number() bool {
	if s.at < len(s.data) && s.data[s.at] == '-' {
		s.at++
	}
	first := s.at
	n := s.digits()
	if n == 0 || (n > 1 && s.data[first] == '0') {
		return false
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		return s.digits() > 0
	}
	return true
}

func (s *scanner) digits() int {
	first := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at - first
}

func (s *scanner) null() bool { return s.word("null") }

func (s *scanner) word(w string) bool {
	s.space()
	if !bytes.HasPrefix(s.data[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// take steps over one character if it comes next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at == len(s.data) || s.data[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) atEnd() bool {
	s.space()
	return s.at == len(s.data)
}

func (s *scanner) space() {
	for s.at < len(s.data) && s.data[s.at] <= ' ' {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}
