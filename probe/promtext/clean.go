package promtext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// maxSamples bounds the memory that one page can take. An engine publishes a few
// thousand series at most.
const maxSamples = 50_000

// cleaner copies the wanted sample lines of a page in the plain form
// "name{labels} value" and drops everything that the text parser trips over.
type cleaner struct {
	want  func(family string) bool
	known map[string]bool // answers of want, by name as it stands in the page

	out    bytes.Buffer
	starts []int           // offset in out of every line kept
	series map[string]bool // name and labels of every line kept
	types  map[string]string
	helped map[string]bool

	sawSample   bool // some line, wanted or not, is a sample
	sawText     bool // some line is neither sample nor comment
	repeated    bool // HELP or TYPE came twice for a family
	duplicates  int  // series that came twice
	unreadable  int
	beyondLimit int
}

func newCleaner(want func(string) bool) *cleaner {
	if want == nil {
		want = func(string) bool { return true }
	}
	return &cleaner{
		want:   want,
		known:  map[string]bool{},
		series: map[string]bool{},
		types:  map[string]string{},
		helped: map[string]bool{},
	}
}

// page reads every line of a page. Lines may end in CR LF, the last one in nothing.
func (c *cleaner) page(body []byte) {
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte{'\n'})
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '#':
			c.comment(line)
		default:
			c.sample(line)
		}
	}
}

// comment keeps what TYPE says. HELP is not needed, but a second one tells that
// several processes stand behind the page.
func (c *cleaner) comment(line []byte) {
	rest, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	if isType {
		name, kind, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte{' '})
		if _, again := c.types[string(name)]; again {
			c.repeated = true
			return
		}
		c.types[string(name)] = strings.ToLower(string(bytes.TrimSpace(kind)))
		return
	}
	if rest, isHelp := bytes.CutPrefix(line, []byte("# HELP ")); isHelp {
		name, _, _ := bytes.Cut(rest, []byte{' '})
		c.repeated = c.repeated || c.helped[string(name)]
		c.helped[string(name)] = true
	}
}

func (c *cleaner) sample(line []byte) {
	name := sampleName(line)
	if len(name) == 0 {
		c.sawText = true
		return
	}
	if !c.wanted(name) {
		// One well-formed sample proves the page; the others cost only this check.
		if !c.sawSample {
			_, _, ok := split(line)
			c.sawSample, c.sawText = ok, c.sawText || !ok
		}
		return
	}
	series, value, ok := split(line)
	switch {
	case !ok:
		c.sawText = true
		c.unreadable++
	case c.series[string(series)]:
		c.duplicates++
	case len(c.starts) >= maxSamples:
		c.beyondLimit++
	default:
		c.sawSample = true
		c.series[string(series)] = true
		c.keep(series, value)
	}
}

func (c *cleaner) keep(series, value []byte) {
	c.starts = append(c.starts, c.out.Len())
	c.out.Write(series)
	c.out.WriteByte(' ')
	c.out.Write(value)
	c.out.WriteByte('\n')
}

// wanted asks want once per name: for the name as it stands, then for its family.
// x_created is a Unix time that client libraries add to x, never a value of x.
func (c *cleaner) wanted(name []byte) bool {
	yes, asked := c.known[string(name)]
	if !asked {
		s := string(name)
		yes = !strings.HasSuffix(s, "_created") && (c.want(s) || c.want(family(s)))
		c.known[s] = yes
	}
	return yes
}

// sampleName returns the metric name that a sample line starts with, empty if the
// line cannot be a sample. The quoted form {"name",…} is allowed.
func sampleName(line []byte) []byte {
	if bytes.HasPrefix(line, []byte(`{"`)) {
		name, _, _ := bytes.Cut(line[2:], []byte{'"'})
		return name
	}
	for i, b := range line {
		if !isNameByte(b) {
			return line[:i]
		}
	}
	return nil // a name alone has no value
}

func isNameByte(b byte) bool {
	return b == '_' || b == ':' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// split parts a sample line into the series (name and labels) and its value. Time
// stamps (milliseconds in one format, seconds in the other) and exemplars are left out.
func split(line []byte) (series, value []byte, ok bool) {
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return nil, nil, false
	}
	series = line[:end]
	rest := bytes.TrimLeft(line[end:], " \t")
	if len(rest) > 0 && rest[0] == '{' {
		labels, n := labelBlock(rest)
		if n == 0 {
			return nil, nil, false
		}
		series = append(bytes.Clone(series), labels...)
		rest = rest[n:]
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return nil, nil, false
	}
	value = fields[0]
	if bytes.EqualFold(value, []byte("-nan")) { // as C's printf writes it
		value = []byte("NaN")
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return series, value, err == nil
}

// labelBlock returns the label block that text starts with, and its length in
// text; 0 if the block does not end. Values without quotes get them.
func labelBlock(text []byte) (block []byte, n int) {
	inQuotes, bare := false, false
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case inQuotes && b == '\\' && i+1 < len(text):
			block = append(block, b)
			i++
			b = text[i]
		case bare && (b == ',' || b == '}'):
			block = append(block, '"')
			bare = false
		case b == '"':
			inQuotes = !inQuotes
		}
		block = append(block, b)
		if inQuotes || bare {
			continue
		}
		if b == '}' {
			return block, i + 1
		}
		if b == '=' && i+1 < len(text) && text[i+1] != '"' && text[i+1] != ' ' {
			block = append(block, '"')
			bare = true
		}
	}
	return nil, 0
}

// notes says in one sentence what was odd, or nothing.
func (c *cleaner) notes() []string {
	var odd []string
	if c.repeated {
		odd = append(odd, "repeated HELP or TYPE lines")
	}
	if c.duplicates > 0 {
		odd = append(odd, fmt.Sprintf("%d repeated series", c.duplicates))
	}
	if c.unreadable > 0 {
		odd = append(odd, fmt.Sprintf("%d unreadable lines", c.unreadable))
	}
	if c.beyondLimit > 0 {
		odd = append(odd, fmt.Sprintf("%d series beyond the first %d left out", c.beyondLimit, maxSamples))
	}
	if odd == nil {
		return nil
	}
	return []string{"irregular page: " + strings.Join(odd, ", ")}
}
