package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/slo"
	"sonde/ui/theme"
)

// at makes a model of that size that has seen everything the source has played.
func at(s *fakeSource, w, h int) *model {
	m := newModel(Options{Frames: s, Controls: s, Judge: &fakeJudge{}}, newTestTheme())
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.pull(time.Now())
	m.draw()
	return m
}

// story is the beginning of a session: 8 streams, then 16.
func story() *fakeSource {
	s := newFake(8)
	s.play(20 * time.Second)
	l := s.load
	l.Concurrency = 16
	s.SetLoad(l)
	return s
}

// watch lets the model see the source live: a tick for every slice.
func watch(m *model, s *fakeSource, d time.Duration) {
	for end := s.now + d; s.now < end; {
		s.play(fakeSlice)
		m.Update(tickMsg{m.generation})
	}
}

// A long prompt must be a stripe through the rows of all other streams. With
// LOOK=120x40 in the environment the picture is printed for people; KEYS are
// pressed before, NONE hides engine and GPU, ASCII draws without Unicode.
func TestALongPromptIsAStripe(t *testing.T) {
	w, h := 120, 40
	look, asked := os.LookupEnv("LOOK")
	if asked {
		if _, err := fmt.Sscanf(look, "%dx%d", &w, &h); err != nil {
			t.Fatalf("LOOK=%q is no size: %v", look, err)
		}
	}
	s := story()
	s.noGPU, s.noKV = os.Getenv("NONE") != "", os.Getenv("NONE") != ""
	o := Options{Frames: s, Controls: s, Judge: &fakeJudge{}, SLOs: []slo.Target{{Text: "ttft_p95=800ms", Metric: "ttft", Quantile: 0.95, LimitMS: 800}}}
	m := newModel(o, theme.New(colorprofile.ANSI256, os.Getenv("ASCII") != ""))
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	watch(m, s, 40*time.Second)
	s.FireLong()
	watch(m, s, 15*time.Second)
	if asked {
		pressAll(m, os.Getenv("KEYS"))
		fmt.Println(m.content)
		return
	}
	pressAll(m, "8z")
	rows := map[int]int{} // cells that stand out, by column
	for _, line := range strings.Split(ansi.Strip(m.View().Content), "\n")[3:19] {
		for x, r := range []rune(line) {
			if r == '▆' || r == '█' {
				rows[x]++
			}
		}
	}
	tallest := 0
	for _, n := range rows {
		tallest = max(tallest, n)
	}
	if tallest < 14 { // of 16: one or two may be between two requests
		t.Errorf("the stripe goes through %d of 16 rows", tallest)
	}
}
