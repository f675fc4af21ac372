package record

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"
)

// index finds places in a recording from which reading can start: a Frame's line
// omits what did not change, so a place knows what held there. It grows
// on demand and belongs to one goroutine.
type index struct {
	places  []place
	scanned place         // how far it has come
	at      time.Duration // of the last Frame seen
	ended   bool
}

// place is a point between two Frames.
type place struct {
	at     time.Duration // of the Frame before it
	offset int64         // of the line after that Frame; 0 is the beginning of the file
	line   int           // lines before it
	kept
}

// partKeys begin the parts that a Frame's line only has when they changed. Inside
// a text they would have a backslash before the quote, and no other object of a
// line has keys of these names.
var partKeys = [][]byte{[]byte(`,"target":{`), []byte(`,"engine":{`), []byte(`,"gpu":{`)}

// placeEvery is how far apart places are.
const placeEvery = 5 * time.Second

// before is the last place whose Frame is before at; the zero place is the
// beginning of the file.
func (x *index) before(ctx context.Context, f *File, at time.Duration) (place, error) {
	if err := x.extend(ctx, f, at); err != nil {
		return place{}, err
	}
	best := place{}
	for _, p := range x.places {
		if p.at >= at {
			break
		}
		best = p
	}
	return best, nil
}

// extend scans the file until a Frame is not before at.
func (x *index) extend(ctx context.Context, f *File, at time.Duration) error {
	if x.ended || x.at >= at {
		return nil
	}
	lines := lines{in: bufio.NewReaderSize(f.section(x.scanned.offset), 1<<20), number: x.scanned.line}
	for x.at < at && ctx.Err() == nil {
		line, whole, err := lines.next(longestLine)
		another := x.scanned.offset > 0 && bytes.HasPrefix(line, []byte(headerStart))
		if errors.Is(err, io.EOF) || err == nil && (!whole || another) {
			x.ended = true
			break
		}
		if err != nil {
			return err
		}
		x.note(line, lines.size)
	}
	return ctx.Err()
}

// note takes the next whole line, of that size in the file.
func (x *index) note(line []byte, size int64) {
	x.scanned.offset += size
	x.scanned.line++
	at, ok := frameAt(line)
	if !ok {
		return
	}
	var l frameLine
	if slices.ContainsFunc(partKeys, func(key []byte) bool { return bytes.Contains(line, key) }) && unmarshal(line, &l) == nil {
		x.scanned.keep(&l)
	}
	x.at, x.scanned.at = at, at
	if n := len(x.places); n == 0 || at-x.places[n-1].at >= placeEvery {
		x.places = append(x.places, x.scanned)
	}
}

// frameAt is when the Frame of a line was; ok is false for other lines. It reads
// no more of the line than it must.
func frameAt(line []byte) (at time.Duration, ok bool) {
	const key = `"at_ms":`
	if !bytes.HasPrefix(line, []byte(`{"type":"frame",`)) {
		return 0, false
	}
	head := line[:min(len(line), 100)]
	_, value, found := bytes.Cut(head, []byte(key))
	value, _, complete := bytes.Cut(value, []byte(","))
	if !found || !complete || parseMillis(value, &at) != nil {
		return 0, false
	}
	return at, true
}
