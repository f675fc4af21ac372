// Package prom reads Prometheus and OpenMetrics text pages as they are found in the field
// (with repeated HELP and TYPE lines, exemplars, carriage returns, tabs, unreadable lines, or
// with something else where metrics should be), and queries Prometheus servers for the newest
// samples of some series.
package prom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sample is one series of a page. Histograms and summaries appear flat, as on
// the wire: x_bucket{le}, x_sum, x_count.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64 // as published: may be NaN or infinite
}

// Page holds the samples of one metrics page. The zero value is an empty page.
type Page struct {
	samples map[string][]Sample
	notes   []string

	earliest   float64
	labelNames map[string]bool // nil if they were not collected
}

// FromSamples makes a page of samples that came from elsewhere, for example from
// a Prometheus server's answer.
func FromSamples(samples []Sample) Page {
	p := Page{samples: map[string][]Sample{}}
	for _, s := range samples {
		p.samples[s.Name] = append(p.samples[s.Name], s)
	}
	return p
}

// With returns a page of other samples with what else is known of this one.
func (p Page) With(samples []Sample) Page {
	out := FromSamples(samples)
	out.notes, out.earliest = p.notes, p.earliest
	return out
}

// Map returns the page with the series of every name replaced by what f makes of them.
func (p Page) Map(f func(samples []Sample) []Sample) Page {
	all := make(map[string][]Sample, len(p.samples))
	for name, samples := range p.samples {
		all[name] = f(samples)
	}
	p.samples = all
	return p
}

// Samples returns the series of that exact name, in the order of the page. The
// result belongs to the page.
func (p Page) Samples(name string) []Sample { return p.samples[name] }

// Has reports whether any sample's name starts with prefix.
func (p Page) Has(prefix string) bool {
	for name := range p.samples {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Names returns the names of all samples, sorted.
func (p Page) Names() []string { return slices.Sorted(maps.Keys(p.samples)) }

// Notes returns remarks about the page, for example that it is irregular.
func (p Page) Notes() []string { return p.notes }

// MayHaveLabel reports whether some sample may carry a label of that name. It is a
// quick no where there is none.
func (p Page) MayHaveLabel(name string) bool { return p.labelNames == nil || p.labelNames[name] }

// Created is when the oldest of the samples' families was created, Unix seconds, as client
// libraries report in x_created; 0 if they do not. It changes with a restart.
func (p Page) Created() float64 { return p.earliest }

// suffixes are what exposition formats append to a family's name.
var suffixes = []string{"_bucket", "_total", "_count", "_sum"}

// family strips what the formats append to a family's name. OpenMetrics declares
// the counter x and publishes x_total.
func family(name string) string {
	for _, s := range suffixes {
		if base, ok := strings.CutSuffix(name, s); ok {
			return base
		}
	}
	return name
}

// What a page can be instead of metrics.
var (
	ErrJSON  = errors.New("JSON, not a metrics page")
	ErrHTML  = errors.New("HTML, not a metrics page")
	ErrEmpty = errors.New("empty page")
	ErrText  = errors.New("text without metrics")
)

// Parse reads a metrics page and keeps the families that want accepts; nil keeps
// all. want is asked with a sample's name, and if it refuses with the name less
// its _bucket, _sum, _count or _total. A page with only other families is not an
// error: the result is then empty. The error wraps ErrJSON, ErrHTML, ErrEmpty or ErrText.
func Parse(body []byte, want func(family string) bool) (Page, error) {
	return NewParser(want).Parse(body)
}

// foreign recognises by its beginning what is not a metrics page at all. A brace may
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

// pageState is what is known about the current page.
type pageState struct {
	number int // counts pages
	kept   int

	sawSample   bool // some line, wanted or not, is a sample
	sawText     bool // some line is neither sample nor comment
	repeated    bool // HELP or TYPE came twice for a family
	duplicates  int  // series that came twice
	unreadable  int
	beyondLimit int

	earliest float64 // creation time, Unix seconds; 0 = none
}

// declarations are the comments that a page has once for each family.
var declarations = [][]byte{[]byte("# TYPE "), []byte("# HELP ")}

// comment notes whether a family is declared twice: then the page is of several
// processes.
func (p *Parser) comment(line []byte) {
	for i, word := range declarations {
		rest, ok := bytes.CutPrefix(line, word)
		if !ok {
			continue
		}
		name, _, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte{' '})
		on, known := p.declared[string(name)]
		if !known {
			on = new([2]int)
			p.declared[string(name)] = on
		}
		p.page.repeated = p.page.repeated || on[i] == p.page.number
		on[i] = p.page.number
	}
}

// created keeps the earliest time at which something wanted was created: series that are
// created later do not show a restart.
func (s *pageState) created(wanted bool, at float64) {
	if wanted && at > 0 && (s.earliest == 0 || at < s.earliest) {
		s.earliest = at
	}
}

// notes says in one sentence what was odd, or nothing.
func (s *pageState) notes() []string {
	var odd []string
	if s.repeated {
		odd = append(odd, "repeated HELP or TYPE lines")
	}
	if s.duplicates > 0 {
		odd = append(odd, fmt.Sprintf("%d repeated series", s.duplicates))
	}
	if s.unreadable > 0 {
		odd = append(odd, fmt.Sprintf("%d unreadable lines", s.unreadable))
	}
	if s.beyondLimit > 0 {
		odd = append(odd, fmt.Sprintf("%d series beyond the first %d skipped", s.beyondLimit, maxSamples))
	}
	if odd == nil {
		return nil
	}
	return []string{"irregular page: " + strings.Join(odd, ", ")}
}
