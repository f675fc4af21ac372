package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
)

// watchers hands out the Frames of a session that only watches.
type watchers struct{ *fakeSource }

func (w watchers) Since(seq uint64) []*frame.Frame {
	frames := w.fakeSource.Since(seq)
	for _, f := range frames {
		f.Load.Watch = true
	}
	return frames
}

// No key changes the load of a session that only watches, and those that would say why not.
func TestWatchingRefusesKeysThatSend(t *testing.T) {
	s := newFake(0).play(time.Second)
	m := newModel(Options{Frames: watchers{s}, Controls: s, Sweeper: &fakeSweeper{}}, newTestTheme())
	m.pull(time.Now())
	m = sized(m, 120, 40)
	before := s.Load()
	for _, key := range []string{"up", "pgup", "+", "l", "s", "S", "0", "x", "]", "p"} {
		m.notice = notice{}
		press(m, key)
		if m.notice.text != frame.Watching {
			t.Errorf("%s: %q, want %q", key, m.notice.text, frame.Watching)
		}
	}
	if s.Load() != before || len(s.calls) > 0 {
		t.Errorf("the load is %+v, calls %v", s.Load(), s.calls)
	}
	for _, screen := range []string{"", "?", "1", "z", "t"} {
		pressAll(m, screen)
		m.notice = notice{}
		m.draw()
		text := ansi.Strip(m.View().Content)
		for _, invitation := range []string{"l long prompt", "send one long", "sS sweep", "press ↑", "↑↓ concurrency", "raise the"} {
			if strings.Contains(text, invitation) {
				t.Errorf("after %q the screen invites: %q", screen, invitation)
			}
		}
	}
}
