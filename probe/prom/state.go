package prom

import (
	"bytes"
	"fmt"
	"strings"
)

// pageState is what is known of the page at hand.
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

// declared is a family of which a HELP or TYPE line has been seen.
type declared struct {
	kind          string // in lower case
	helped, typed int    // on which page, by its number
}

// comment keeps what TYPE says. HELP is not needed, but a second one tells that
// several processes stand behind the page.
func (p *Parser) comment(line []byte) {
	if rest, isType := bytes.CutPrefix(line, []byte("# TYPE ")); isType {
		name, kind, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte{' '})
		d := p.declared(name)
		if d.typed == p.page.number {
			p.page.repeated = true
			return
		}
		d.typed = p.page.number
		if kind = bytes.TrimSpace(kind); string(kind) != d.kind {
			d.kind = strings.ToLower(string(kind))
		}
		return
	}
	if rest, isHelp := bytes.CutPrefix(line, []byte("# HELP ")); isHelp {
		name, _, _ := bytes.Cut(rest, []byte{' '})
		d := p.declared(name)
		p.page.repeated = p.page.repeated || d.helped == p.page.number
		d.helped = p.page.number
	}
}

func (p *Parser) declared(name []byte) *declared {
	d, known := p.families[string(name)]
	if !known {
		d = &declared{}
		p.families[string(name)] = d
	}
	return d
}

// typeOf returns what the page at hand declares of a sample's family.
func (p *Parser) typeOf(name string) string {
	for _, n := range []string{name, family(name)} {
		if d := p.families[n]; d != nil && d.typed == p.page.number {
			return d.kind
		}
	}
	return ""
}

// created keeps the earliest time at which something wanted came to be: series that
// come later are no sign of a restart.
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
		odd = append(odd, fmt.Sprintf("%d series beyond the first %d left out", s.beyondLimit, maxSamples))
	}
	if odd == nil {
		return nil
	}
	return []string{"irregular page: " + strings.Join(odd, ", ")}
}
