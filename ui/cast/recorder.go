// Package cast keeps the last minutes of the screen, and plays them back as an asciicast.
package cast

import (
	"slices"
	"strings"
	"time"
)

// What a Recorder keeps at most. Older screens are dropped.
const (
	keepFor   = 3 * time.Minute
	keepBytes = 8 << 20 // of changed lines
)

// Recorder keeps the screens of the last minutes: the oldest whole, of each later one the
// lines that changed. The zero value is ready. It is not safe for concurrent use.
type Recorder struct {
	kept  Recording
	last  screen
	bytes int // of all changes
}

// Recording is what a Recorder kept up to one moment. Nothing changes it later.
type Recording struct {
	first   screen
	began   time.Time // when first was shown
	changes []change  // after first, oldest first
}

type screen struct {
	width, height int
	lines         []string
}

// change is what differs from the screen before.
type change struct {
	at            time.Time
	width, height int // of the screen, if it was resized: then all lines follow; else 0
	lines         []line
}

type line struct {
	row  int // the topmost is 0
	text string
}

// Add keeps a screen of the given size, if it differs from the one before.
func (r *Recorder) Add(now time.Time, width, height int, content string) {
	next := screen{width, height, strings.Split(content, "\n")}
	before := r.last
	r.last = next
	if r.kept.began.IsZero() {
		r.kept.began = now
		r.kept.first = screen{width, height, slices.Clone(next.lines)}
		return
	}
	if c := next.since(before); c.resized() || len(c.lines) > 0 {
		c.at = now
		r.kept.changes = append(r.kept.changes, c)
		r.bytes += c.size()
	}
	r.trim(now.Add(-keepFor))
}

// trim drops what is too old or too much.
func (r *Recorder) trim(oldest time.Time) {
	k := &r.kept
	for len(k.changes) > 0 && (r.bytes > keepBytes || !k.changes[0].at.After(oldest)) {
		c := k.changes[0]
		k.changes[0] = change{} // frees its text
		k.changes = k.changes[1:]
		k.first.apply(c)
		k.began = c.at
		r.bytes -= c.size()
	}
	if k.began.Before(oldest) {
		k.began = oldest
	}
}

// Recording returns what is kept now.
func (r *Recorder) Recording() Recording {
	k := r.kept
	k.first.lines = slices.Clone(k.first.lines)
	k.changes = slices.Clone(k.changes)
	return k
}

// since returns what changed between two screens.
func (s screen) since(before screen) change {
	var c change
	if s.width != before.width || s.height != before.height || len(s.lines) != len(before.lines) {
		c.width, c.height = s.width, s.height
	}
	for row, text := range s.lines {
		if c.resized() || text != before.lines[row] {
			c.lines = append(c.lines, line{row, strings.Clone(text)}) // the rest of the screen can be freed
		}
	}
	return c
}

func (s *screen) apply(c change) {
	if c.resized() {
		*s = screen{c.width, c.height, make([]string, len(c.lines))}
	}
	for _, l := range c.lines {
		s.lines[l.row] = l.text
	}
}

func (c change) resized() bool { return c.width > 0 }

// size is the memory of a change in bytes, with what its parts need beside the text.
func (c change) size() int {
	const perChange, perLine = 80, 24
	n := perChange
	for _, l := range c.lines {
		n += perLine + len(l.text)
	}
	return n
}
