package promtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if err := foreign(bytes.TrimSpace(body)); err != nil {
		return Page{}, err
	}
	c := newCleaner(want)
	c.page(body)
	switch {
	case !c.sawSample && c.sawText:
		return Page{}, fmt.Errorf("%w: %q", ErrText, opening(body))
	case !c.sawSample:
		return Page{}, ErrEmpty
	}
	p := Page{samples: map[string][]Sample{}, types: c.types}
	c.unreadable += p.addLines(c.out.Bytes(), c.starts)
	p.notes = c.notes()
	return p, nil
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

// addLines parses cleaned lines, whose offsets are in starts. The text parser
// stops at a line that it cannot read: it is started again behind that line.
func (p Page) addLines(lines []byte, starts []int) (unreadable int) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	for first := 0; first < len(starts); {
		families, err := parser.TextToMetricFamilies(bytes.NewReader(lines[starts[first]:]))
		for name, family := range families {
			for _, m := range family.GetMetric() {
				// Without TYPE lines everything is untyped; a line that
				// failed at its value has left a metric without one.
				if m.GetUntyped() == nil {
					continue
				}
				labels := make(map[string]string, len(m.GetLabel()))
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				p.samples[name] = append(p.samples[name], Sample{name, labels, m.GetUntyped().GetValue()})
			}
		}
		var at expfmt.ParseError
		if err == nil || !errors.As(err, &at) || at.Line < 1 {
			break
		}
		unreadable++
		first += at.Line
	}
	return unreadable
}
