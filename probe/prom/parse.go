package prom

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// What a page can be instead of metrics.
var (
	ErrJSON  = errors.New("JSON, not a metrics page")
	ErrHTML  = errors.New("HTML, not a metrics page")
	ErrEmpty = errors.New("empty page")
	ErrText  = errors.New("text without metrics")
)

// Parse reads a metrics page and keeps the families that want accepts; nil keeps
// all. want is asked with a sample's name, and if it refuses with the name less
// its _bucket, _sum, _count or _total. A page of other families only is no error:
// the result is then empty. The error wraps ErrJSON, ErrHTML, ErrEmpty or ErrText.
func Parse(body []byte, want func(family string) bool) (Page, error) {
	return NewParser(want).Parse(body)
}

// foreign recognises by its beginning what is no metrics page at all. A brace may
// also open a sample in the quoted form {"name",…}.
func foreign(body []byte) error {
	switch {
	case len(body) == 0:
		return ErrEmpty
	case body[0] == '<':
		return ErrHTML
	case body[0] == '[' || body[0] == '"' || json.Valid(body):
		return ErrJSON
	case body[0] == '{' && !bytes.HasPrefix(body, []byte(`{"`)):
		return ErrJSON
	case body[0] == '{':
		_, rest, _ := bytes.Cut(body[2:], []byte{'"'})
		if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] == ':' {
			return ErrJSON
		}
	}
	return nil
}

// opening returns the first words of a page, fit to be shown.
func opening(body []byte) string {
	const most = 60
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(body[:min(len(body), 4*most)]))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
