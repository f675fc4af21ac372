package ui

import (
	"sonde/probe/frame"
)

// playback gives out warm Frames at first and then one more with every call.
type playback struct {
	frames []*frame.Frame
	given  int
}

func (p *playback) Since(seq uint64) []*frame.Frame {
	p.given = min(p.given+1, len(p.frames))
	return p.frames[min(int(seq), p.given):p.given]
}
