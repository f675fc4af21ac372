package ui

import (
	"math"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/ui/theme"
)

func newTestTheme() *theme.Palette { return theme.New(colorprofile.ANSI256, false) }

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// slice is a Frame of 250 ms that ends at the given time.
func slice(seq uint64, at time.Duration) *frame.Frame {
	return &frame.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond}
}

func screenOf(m *model) string { return ansi.Strip(m.View().Content) }

// playback gives Frames one by one.
type playback struct {
	frames []*frame.Frame
	given  int
}

func (p *playback) Since(seq uint64) []*frame.Frame {
	p.given = min(p.given+1, len(p.frames))
	return p.frames[min(int(seq), p.given):p.given]
}
