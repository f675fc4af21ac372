package prom

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sonde/probe/plain"
)

// maxSamples bounds the memory that one page can take. An engine publishes a few
// thousand series at most.
const maxSamples = 50_000

// Parser reads one page after the other from the same place. It remembers names and
// label sets, which come again with every page, so that a page costs little more
// than reading its numbers. It is not safe for use by several goroutines.
type Parser struct {
	want   func(family string) bool
	names  map[string]*metric
	labels map[string]*labelSet // by label block as it stands on the page
	page   pageState

	declared   map[string]*[2]int // on which page a family was last declared, by its number
	labelNames map[string]bool    // of all label sets
}

// metric is a name that has been seen.
type metric struct {
	name    string
	wanted  bool
	created bool     // its value is when something wanted was created
	samples []Sample // of the current page
	usual   int      // how many the page before had
}

// labelSet is a label block that has been seen.
type labelSet struct {
	labels map[string]string
	name   string // where the metric's name stands in the block
	broken bool
	on     []*metric // that the current page has with it
}

// NewParser makes a parser for the families that want accepts, as for Parse.
func NewParser(want func(family string) bool) *Parser {
	if want == nil {
		want = func(string) bool { return true }
	}
	p := &Parser{want: want}
	p.forget()
	return p
}

func (p *Parser) forget() {
	p.names, p.labels, p.declared = map[string]*metric{}, map[string]*labelSet{"": {labels: map[string]string{}}}, map[string]*[2]int{}
	p.labelNames = map[string]bool{}
}

// Parse reads one page, as the function Parse. Pages share the labels of samples:
// they must not be changed.
func (p *Parser) Parse(body []byte) (Page, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if err := foreign(bytes.TrimSpace(body)); err != nil {
		return Page{}, err
	}
	p.begin()
	p.lines(body)
	switch {
	case !p.page.sawSample && p.page.sawText:
		return Page{}, fmt.Errorf("%w: %q", ErrText, plain.Line(string(body[:min(len(body), 240)]), 60))
	case !p.page.sawSample:
		return Page{}, ErrEmpty
	}
	return p.end(), nil
}

// begin forgets the page before, and everything where it has become too much.
func (p *Parser) begin() {
	p.page = pageState{number: p.page.number + 1}
	if max(len(p.names), len(p.labels), len(p.declared)) > maxSamples {
		p.forget()
	}
	for _, m := range p.names {
		m.usual, m.samples = len(m.samples), nil
	}
	for _, l := range p.labels {
		l.on = l.on[:0]
	}
}

func (p *Parser) end() Page {
	out := Page{samples: map[string][]Sample{}, labelNames: maps.Clone(p.labelNames), earliest: p.page.earliest}
	for name, m := range p.names {
		if len(m.samples) > 0 {
			out.samples[name] = m.samples
		}
	}
	out.notes = p.page.notes()
	return out
}

// lines reads every line of a page. Lines may end in CR LF, the last one in nothing.
func (p *Parser) lines(body []byte) {
	last := &metric{} // a family's lines follow each other
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte{'\n'})
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '#':
			p.comment(line)
		default:
			last = p.line(line, last)
		}
	}
}

// line reads a line that should be a sample. It returns its metric.
func (p *Parser) line(line []byte, last *metric) *metric {
	if n := len(last.name); n > 0 && n < len(line) && string(line[:n]) == last.name && !nameBytes[line[n]] {
		p.sample(last, line[n:])
		return last
	}
	name := line[:nameLength(line)]
	if len(name) == len(line) { // a name alone has no value
		p.page.sawText = true
		return last
	}
	if len(name) == 0 {
		if line[0] != '{' {
			p.page.sawText = true
			return last
		}
		p.sample(nil, line)
		return last
	}
	last = p.metric(name)
	p.sample(last, line[len(name):])
	return last
}

// sample reads what stands behind the name: labels and value. Time stamps
// (milliseconds in one format, seconds in the other) and exemplars are skipped.
func (p *Parser) sample(m *metric, rest []byte) {
	if m != nil && !m.wanted && !m.created && p.page.sawSample {
		return // one well-formed sample proves the page; the others cost only this check
	}
	rest = bytes.TrimLeft(rest, " \t")
	labels := p.labels[""] // of a series without a block
	if rest[0] == '{' {
		n := 0
		if labels, n = p.labelSet(rest); n == 0 {
			p.bad(m)
			return
		}
		rest = rest[n:]
	}
	if m == nil {
		if labels.name == "" {
			p.bad(nil)
			return
		}
		m = p.metric([]byte(labels.name))
	}
	value, ok := number(rest)
	switch {
	case !ok || labels.broken || labels.name != "" && labels.name != m.name || m.name[0] >= '0' && m.name[0] <= '9':
		p.bad(m)
	case !m.wanted:
		p.page.sawSample = true
		p.page.created(m.created, value)
	default:
		p.page.sawSample = true
		p.keep(m, labels, value)
	}
}

// bad counts a line that cannot be read, if it may be wanted.
func (p *Parser) bad(m *metric) {
	p.page.sawText = true
	if m == nil || m.wanted {
		p.page.unreadable++
	}
}

func (p *Parser) keep(m *metric, labels *labelSet, value float64) {
	switch {
	case slices.Contains(labels.on, m):
		p.page.duplicates++
	case p.page.kept >= maxSamples:
		p.page.beyondLimit++
	default:
		p.page.kept++
		labels.on = append(labels.on, m)
		if m.samples == nil {
			m.samples = make([]Sample, 0, max(m.usual, 1))
		}
		m.samples = append(m.samples, Sample{m.name, labels.labels, value})
	}
}

// metric returns what is known of a name, and asks once whether it is wanted: as it
// stands, then its family. x_created is a Unix time that client libraries add to x,
// never a value of x.
func (p *Parser) metric(name []byte) *metric {
	if m, known := p.names[string(name)]; known {
		return m
	}
	m := &metric{name: string(name)}
	base, created := strings.CutSuffix(m.name, "_created")
	m.wanted = !created && (p.want(m.name) || p.want(family(m.name)))
	m.created = created && (p.want(base) || p.want(base+"_total"))
	p.names[m.name] = m
	return m
}

// labelSet returns the label set of the block that text starts with, and the
// block's length; 0 if it does not end.
func (p *Parser) labelSet(text []byte) (*labelSet, int) {
	if end := bytes.IndexByte(text, '}') + 1; end > 0 {
		if l, known := p.labels[string(text[:end])]; known {
			return l, end
		}
	}
	labels, name, n := labelBlock(text)
	if n == 0 {
		return nil, 0
	}
	l := &labelSet{labels: labels, name: name}
	for label := range labels {
		p.labelNames[label] = true
	}
	p.labels[string(text[:n])] = l
	return l, n
}
