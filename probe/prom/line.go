package prom

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// labelBlock takes apart the label block that text starts with, {…}, and returns
// its length in text; 0 if it does not end or cannot be read. Values without quotes
// and a comma at the end are allowed. A quoted word without a value is the metric's
// name: {"name",label="value"}.
func labelBlock(text []byte) (labels map[string]string, name string, n int) {
	labels = map[string]string{}
	s := scanner{text: text, at: 1}
	for {
		s.space()
		if s.next('}') {
			return labels, name, s.at
		}
		key, quoted, ok := s.key()
		if !ok {
			return nil, "", 0
		}
		s.space()
		switch _, twice := labels[key]; {
		case s.next('='):
			value, ok := s.value()
			if !ok || twice || !quoted && !isLabelName(key) {
				return nil, "", 0
			}
			labels[key] = value
		case quoted && name == "" && len(labels) == 0:
			name = key
		default:
			return nil, "", 0
		}
		s.space()
		if !s.next(',') && !s.peek('}') {
			return nil, "", 0
		}
	}
}

// scanner reads a label block from left to right.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// peek reports whether the next byte is b.
func (s *scanner) peek(b byte) bool { return s.at < len(s.text) && s.text[s.at] == b }

// next steps over b if it is the next byte.
func (s *scanner) next(b byte) bool {
	if !s.peek(b) {
		return false
	}
	s.at++
	return true
}

// key reads a label's name, or a quoted word.
func (s *scanner) key() (key string, quoted, ok bool) {
	if s.peek('"') {
		key, ok = s.quoted()
		return key, true, ok && key != ""
	}
	begin := s.at
	for s.at < len(s.text) && nameBytes[s.text[s.at]] {
		s.at++
	}
	return string(s.text[begin:s.at]), false, s.at > begin
}

// value reads what stands behind the equals sign. Without quotes it goes on to the
// next comma or the end of the block.
func (s *scanner) value() (string, bool) {
	s.space()
	if s.peek('"') {
		return s.quoted()
	}
	n := bytes.IndexAny(s.text[s.at:], ",}")
	if n < 0 {
		return "", false
	}
	bare := bytes.TrimRight(s.text[s.at:s.at+n], " \t")
	s.at += n
	return string(bare), utf8.Valid(bare) && bytes.IndexByte(bare, '"') < 0
}

// quoted reads a word in quotes with its escapes.
func (s *scanner) quoted() (string, bool) {
	s.at++
	rest := s.text[s.at:]
	end := bytes.IndexAny(rest, "\\\"")
	if end >= 0 && rest[end] == '"' { // the usual word has no escapes
		s.at += end + 1
		return string(rest[:end]), utf8.Valid(rest[:end])
	}
	var word strings.Builder
	for i := 0; i < len(rest); i++ {
		switch b := rest[i]; {
		case b == '"':
			s.at += i + 1
			return word.String(), utf8.ValidString(word.String())
		case b != '\\':
			word.WriteByte(b)
		case i+1 < len(rest) && escapes[rest[i+1]] != 0:
			i++
			word.WriteByte(escapes[rest[i]])
		default:
			return "", false
		}
	}
	return "", false
}

var escapes = [256]byte{'\\': '\\', '"': '"', 'n': '\n'}

// isLabelName reports whether an unquoted name is valid: no colon, no digit in front.
func isLabelName(name string) bool {
	return !strings.Contains(name, ":") && (name[0] < '0' || name[0] > '9')
}

// nameBytes are the bytes of a name without quotes.
var nameBytes = func() (is [256]bool) {
	for b := range is {
		is[b] = b == '_' || b == ':' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	return is
}()

// number reads the value that text starts with, behind blanks.
func number(text []byte) (float64, bool) {
	text = bytes.TrimLeft(text, " \t")
	if end := bytes.IndexAny(text, " \t"); end >= 0 {
		text = text[:end]
	}
	if bytes.EqualFold(text, []byte("-nan")) { // as C's printf writes it
		text = text[1:]
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil
}

// nameLength is how many bytes of a name a line starts with.
func nameLength(line []byte) int {
	for i, b := range line {
		if !nameBytes[b] {
			return i
		}
	}
	return len(line)
}
