package trace

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/measure"
	"sonde/probe/record"
)

// mooncakeLine is a request of the traces that the Mooncake project publishes.
type mooncakeLine struct {
	Timestamp *float64 `json:"timestamp"` // ms
	Input     *int     `json:"input_length"`
	Output    *int     `json:"output_length"`
	HashIDs   []uint64 `json:"hash_ids"`
}

var errMooncake = errors.New(`needs whole numbers such as {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}`)

func mooncake(line []byte) (arrivals.Arrival, error) {
	var l mooncakeLine
	if err := json.Unmarshal(line, &l); err != nil {
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return arrivals.Arrival{}, fmt.Errorf("invalid JSON: %w", err)
		}
		return arrivals.Arrival{}, errMooncake
	}
	if l.Timestamp == nil || l.Input == nil || l.Output == nil {
		return arrivals.Arrival{}, errMooncake
	}
	at, err := since(*l.Timestamp / 1000)
	return arrivals.Arrival{At: at, In: *l.Input, Out: *l.Output, Blocks: l.HashIDs}, err
}

// since is a time in seconds since a beginning that the file chose.
func since(seconds float64) (time.Duration, error) {
	if math.IsNaN(seconds) || math.Abs(seconds) > maxTime.Seconds() {
		return 0, errors.New("the timestamp is out of range: it must count from the beginning of the trace")
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

// csvRow returns the reader of rows below that heading; nil if it is of no known trace.
func csvRow(heading string) func([]byte) (arrivals.Arrival, error) {
	columns := fields(heading)
	for i := range columns {
		columns[i] = strings.ToLower(columns[i])
	}
	at := func(name string) int { return slices.Index(columns, name) }
	c := csvColumns{n: len(columns), time: at("timestamp"), in: at("contexttokens"), out: at("generatedtokens"), when: wallTime, heading: heading}
	if c.in < 0 {
		c.in, c.out, c.when = at("request tokens"), at("response tokens"), secondsSince
	}
	if min(c.time, c.in, c.out) < 0 {
		return nil
	}
	return c.row
}

// fields cuts a line of CSV. A reader of the library is only made where it is needed: traces have
// millions of lines.
func fields(line string) (list []string) {
	if strings.Contains(line, `"`) {
		r := csv.NewReader(strings.NewReader(line))
		r.TrimLeadingSpace, r.LazyQuotes = true, true
		list, _ = r.Read() // what it cannot cut has too few columns
	} else {
		list = strings.Split(line, ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// csvColumns says where a table has what we need.
type csvColumns struct {
	n             int // of all columns
	time, in, out int
	when          func(string) (time.Duration, error)
	heading       string
}

func (c *csvColumns) row(line []byte) (a arrivals.Arrival, err error) {
	if string(line) == c.heading {
		return a, errHeading
	}
	list := fields(string(line))
	if len(list) != c.n {
		return a, fmt.Errorf("has %d columns instead of %d", len(list), c.n)
	}
	if a.At, err = c.when(list[c.time]); err != nil {
		return a, err
	}
	if a.In, err = tokens(list[c.in]); err != nil {
		return a, err
	}
	a.Out, err = tokens(list[c.out])
	return a, err
}

// tokens reads a whole number, also one that a spreadsheet has written as 12.0.
func tokens(text string) (int, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1e15 {
		return 0, fmt.Errorf("invalid number of tokens %q", text)
	}
	return int(v), nil
}

func secondsSince(text string) (time.Duration, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid time in seconds %q", text)
	}
	return since(v)
}

// epoch is an instant that times of the wall are counted from: any will do, as the first
// arrival comes to stand at 0. A Duration reaches 292 years from it.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// wallTime reads times such as 2023-11-16 18:17:03.9799600, with or without a zone.
func wallTime(text string) (time.Duration, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Sub(epoch), nil
		}
	}
	return 0, fmt.Errorf("invalid time %q: it must look like 2023-11-16 18:17:03.9799600", text)
}

// isRecording reports whether a first line is of a recording by this program.
func isRecording(line []byte) bool {
	var l struct {
		Type   string `json:"type"`
		Schema string `json:"schema"`
	}
	return json.Unmarshal(line, &l) == nil && (l.Schema == record.Schema || l.Type == "header" || l.Type == "frame" || l.Type == "request")
}

// parseRecording takes the requests of a recording. One that got an answer asks for that
// length again, another one for the length that it had asked for.
func parseRecording(in *bufio.Reader) ([]arrivals.Arrival, error) {
	frames, err := record.NewReader(in)
	var list []arrivals.Arrival
	for err == nil {
		f, failed := frames.Next()
		if err = failed; err != nil {
			break
		}
		for i := range f.Requests {
			r := &f.Requests[i]
			a := arrivals.Arrival{At: r.Intent, In: r.InTokens, Out: r.OutTokens}
			if r.InTokens == 0 {
				a.In = r.RequestedIn
			}
			if r.Class != measure.OK || r.OutTokens == 0 {
				a.Out = r.RequestedOut
			}
			list = append(list, a)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, record.ErrDamaged) {
		err = nil
	}
	return list, err
}
