package cast

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The escape codes of a cast. A line is blanked before it is drawn, because behind a line
// of full width the cursor still stands on its last cell.
const (
	clearScreen = "\x1b[?25l\x1b[m\x1b[2J"
	startOfLine = "\x1b[%d;1H\x1b[m\x1b[2K"
)

// header is the first line of an asciicast, version 2.
type header struct {
	Version   int    `json:"version"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Timestamp int64  `json:"timestamp"` // seconds since 1970
	Title     string `json:"title"`
}

// String is the recording as an asciicast, version 2: a header, and one event a line. The
// first event draws the whole screen, and so does one after a resize; all others draw
// what changed.
func (r Recording) String() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	write := func(v any) { _ = e.Encode(v) } // numbers and strings, into memory: it cannot fail
	write(header{2, r.first.width, r.first.height, r.began.Unix(), "sonde"})
	event := func(at time.Time, kind, data string) {
		seconds := at.Sub(r.began).Round(time.Millisecond).Seconds()
		write([]any{seconds, kind, data})
	}
	whole := r.first.since(screen{})
	event(r.began, "o", whole.draw())
	for _, c := range r.changes {
		if c.resized() {
			event(c.at, "r", fmt.Sprintf("%dx%d", c.width, c.height))
		}
		event(c.at, "o", c.draw())
	}
	return b.String()
}

// draw returns what makes a terminal show the change.
func (c change) draw() string {
	var b strings.Builder
	if c.resized() {
		b.WriteString(clearScreen)
	}
	for _, l := range c.lines {
		fmt.Fprintf(&b, startOfLine, l.row+1)
		b.WriteString(l.text)
	}
	b.WriteString("\x1b[m")
	return b.String()
}
