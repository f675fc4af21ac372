package panel

import (
	"strings"

	"sonde/probe/frame"
	"sonde/probe/units"
	"sonde/ui/history"
	"sonde/ui/text"
)

// Panel turns a View and a size into lines. Panels hold no data, only what keeps a drawing
// steady, such as a scale.
type Panel interface {
	// Heading is the upper border.
	Heading(v *View) text.Heading
	// Body draws w×h cells.
	Body(v *View, w, h int) []string
	// Zoomed draws w×h cells with everything there is to show.
	Zoomed(v *View, w, h int) []string
	// Explain says what the panel shows and where it comes from.
	Explain(v *View) Explanation
}

// ID names a panel. The order is that of tab and of the keys 1 to 8.
type ID int

const (
	Load ID = iota
	TTFT
	TPOT
	Gap
	Tokens
	GPU
	KV
	Streams
	Count
)

// All makes all panels, by ID.
func All() [Count]*Card {
	var cards [Count]*Card
	for id, p := range [Count]Panel{
		Load: &load{}, TTFT: newTTFT(), TPOT: newTPOT(), Gap: newGap(), Tokens: &tokens{}, GPU: gpuPanel{}, KV: kv{}, Streams: streams{},
	} {
		cards[id] = &Card{Panel: p}
	}
	return cards
}

// Card is a panel on the screen with its last drawing.
type Card struct {
	Panel
	Lines []string // the drawing with border

	drawn drawn
}

// Looks is how a panel is to be drawn.
type Looks struct {
	Zoomed  bool
	Focused bool
	Bare    bool // no figures in the border: the strip has them
}

// drawn is what a drawing was made from: its looks and the data.
type drawn struct {
	Looks
	w, h      int
	have      bool // there was a Frame
	other     *history.Other
	byLevel   bool
	cursor    int64
	frame     *frame.Frame
	requested frame.Load
}

// Render draws w×h cells again if anything changed. New data alone waits for the panel's
// turn.
func (c *Card) Render(v *View, w, h int, how Looks, turn bool) {
	now := drawn{how, w, h, v.Have, v.Other, v.ByLevel, v.Cursor, c.drawn.frame, c.drawn.requested}
	if now == c.drawn && !turn {
		return
	}
	now.frame, now.requested = v.Frame, v.Requested
	if now == c.drawn {
		return
	}
	hd, draw := c.Heading(v), c.Body
	if how.Bare {
		hd.Figures = nil
	}
	v.pointAt(c.Panel, &hd)
	if how.Zoomed {
		draw = c.Zoomed
	}
	c.Lines = text.Box(v.Theme, hd, draw(v, max(0, w-2), max(0, h-2)), w, h, how.Focused)
	c.drawn = now
}

// Explanation is what the explain key shows about a panel.
type Explanation struct {
	Title  string
	Text   []string // sentences
	Source string
	Now    []string // window, age, and what else is true of the current picture
}

const fromClient = "this client: the arrival times of the bytes, on one monotonic clock"

// Lines lays the explanation out in lines of w cells.
func (e Explanation) Lines(v *View, w int) []string {
	inner := min(w-2, 96)
	var lines []string
	put := func(label, s string) {
		for i, l := range text.Wrap(s, inner-9) {
			if i > 0 {
				label = ""
			}
			lines = append(lines, " "+v.Theme.Dim.Render(text.Pad(label, 9))+l)
		}
	}
	for _, s := range e.Text {
		put("", s)
	}
	lines = append(lines, "")
	put("source", e.Source)
	for _, s := range e.Now {
		label, rest, _ := strings.Cut(s, " ")
		put(label, rest)
	}
	return lines
}

// windowNow is the window of client statistics and how many samples it has.
func windowNow(v *View, n int) []string {
	return []string{
		"window " + spanWindow(v.Frame.Client.Window) + " by arrival, n " + count(n),
		"age " + frameAge(v),
	}
}

// frameAge says how fresh the client's own numbers are.
func frameAge(v *View) string {
	switch {
	case !v.Have:
		return "no data yet"
	case v.Silent > SilentAfter:
		return "no data for " + units.Span(v.Silent)
	}
	return "now (updated every " + units.Span(v.Frame.Slice) + ")"
}
