package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/level"
)

// Prompts of a file have no asked length: that is no 0, and the keys that change
// what we make say why they do nothing.
func TestPromptsOfAFile(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		s := newFake(4)
		s.load.InputTokens = 0
		m := at(s.play(3*time.Second), size[0], size[1])
		line := func(name string) string {
			for _, l := range strings.Split(ansi.Strip(m.View().Content), "\n") {
				if strings.Contains(l, name) {
					return l
				}
			}
			return ""
		}
		want, name := "in given→1031", " load "
		if size[0] == 120 {
			want, name = "given →  1031", "prompt "
		}
		if got := line(name); !strings.Contains(got, want) {
			t.Errorf("%v: %q lacks %q", size, got, want)
		}
		for _, key := range []string{"left", "right", "p"} {
			before := m.Controls.Load()
			m.notice = notice{}
			press(m, key)
			if m.Controls.Load() != before || !strings.Contains(screenOf(m), "prompts come from a file") {
				t.Errorf("%v, %s: no word of the file:\n%s", size, key, screenOf(m))
			}
		}
		held := row(4, 20, 400)
		held.Load.InputTokens = 0
		m.Levels = &fakeLevels{rows: []level.Level{held}}
		press(m, "t")
		if line("prompt given → output 256 tok") == "" {
			t.Errorf("the levels do not tell of the file:\n%s", screenOf(m))
		}
	}
}
