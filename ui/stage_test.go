package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
)

// preparing plays a session whose load has yet to begin.
type preparing struct {
	*fakeSource
	stage frame.Stage
}

func (s preparing) Since(seq uint64) []*frame.Frame {
	frames := s.fakeSource.Since(seq)
	for _, f := range frames {
		f.Load.Stage, f.Load.Level = s.stage, 0
	}
	return frames
}

// What happens before the load is shown in the title, in the load panel, and where
// figures will be: neither "idle" nor a key that sends the first stream.
func TestWhatGoesBeforeTheLoad(t *testing.T) {
	for _, c := range []struct {
		stage       frame.Stage
		title, text string
	}{
		{frame.StageConnecting, "◌ connecting", "connecting to the server"},
		{frame.StageLoading, "◌ loading model", "the server is loading its model"},
		{frame.StageFitting, "◌ fitting prompt", "fitting the prompt length"},
	} {
		s := preparing{newFake(0).play(2 * time.Second), c.stage}
		for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
			m := at(s.fakeSource, size[0], size[1])
			m.Frames, m.lastSeq = s, 0
			m.pull(time.Now())
			m.draw()
			for range turns { // every panel has had its turn
				m.Update(tickMsg{m.generation})
			}
			text := ansi.Strip(m.View().Content)
			title, _, _ := strings.Cut(text, "\n")
			if !strings.Contains(title, c.title) {
				t.Errorf("%v: the title %q lacks %q", size, title, c.title)
			}
			if joined := strings.Join(strings.Fields(strings.ReplaceAll(text, "│", " ")), " "); !strings.Contains(joined, strings.Fields(c.text)[0]) || strings.Contains(text, "↑ sends") {
				t.Errorf("%v: no word of why there is nothing:\n%s", size, text)
			}
		}
	}
}

// Without anything to prepare, nothing is said of it.
func TestNothingGoesBeforeTheLoad(t *testing.T) {
	m := at(newFake(0).play(2*time.Second), 120, 40)
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "○ idle") || strings.Contains(text, "◌") {
		t.Errorf("the title is wrong:\n%s", text)
	}
}
