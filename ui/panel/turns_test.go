package panel

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// talking is a picture of a level of conversations, of three turns.
func talking(load frame.Load) *View {
	v := floored(roofline.Bounds{})
	v.Requested = load
	v.Levels.Rows = []level.Level{{Load: frame.Load{Concurrency: 99}, Turns: []level.Turn{{Turn: 7}}}, {Load: load, Since: time.Minute, Turns: []level.Turn{
		{Turn: 1, N: 40, TTFT: measure.Summary{N: 40, P50: 52, P95: 61}, Input: opt.Of(1000), Cached: opt.Of(0)},
		{Turn: 2, N: 38, TTFT: measure.Summary{N: 38, P50: 58, P95: 70}, Input: opt.Of(2200), Cached: opt.Of(1100), Hits: opt.Of(0.9)},
		{Turn: 3, Later: true, N: 5, TTFT: measure.Summary{N: 5, P50: 60, P95: 1300}, Input: opt.Of(3400)},
	}}}
	return v
}

func TestTTFTByTurnIsInTheZoom(t *testing.T) {
	zoomed := ansi.Strip(strings.Join(newTTFT().Zoomed(talking(frame.Load{Concurrency: 4, Turns: 3}), 110, 30), "\n"))
	for _, want := range [][]string{
		{"1", "40", "52.0", "61.0", "1k", "0", "—"},
		{"2", "38", "58.0", "70.0", "2.2k", "50", "90"},
		{"3+", "5", "60.0", "1.30s", "3.4k", "—", "—"},
	} {
		found := false
		for line := range strings.SplitSeq(zoomed, "\n") {
			at := strings.Fields(strings.ReplaceAll(line, " %", ""))
			for i := range at {
				found = found || len(at)-i >= len(want) && strings.Join(at[i:i+len(want)], " ") == strings.Join(want, " ")
			}
		}
		if !found {
			t.Errorf("no row %v in\n%s", want, zoomed)
		}
	}
	stopped := talking(frame.Load{Concurrency: 4, Turns: 3})
	stopped.Requested.Concurrency = 0
	if zoomed := ansi.Strip(strings.Join(newTTFT().Zoomed(stopped, 110, 30), "\n")); !strings.Contains(zoomed, "by turn at 4 streams") {
		t.Errorf("without load the newest level's turns are missing:\n%s", zoomed)
	}
	none := talking(frame.Load{Concurrency: 4})
	if zoomed := strings.Join(newTTFT().Zoomed(none, 110, 30), "\n"); strings.Contains(zoomed, "by turn") {
		t.Errorf("turns without conversations:\n%s", zoomed)
	}
}

func TestTheLoadNamesItsConversations(t *testing.T) {
	for _, c := range []struct {
		load frame.Load
		want string
	}{
		{frame.Load{Concurrency: 4}, ""},
		{frame.Load{Concurrency: 4, Turns: 8}, "8 turns"},
		{frame.Load{Concurrency: 4, Turns: 8, Think: 2 * time.Second}, "8 turns, think 2 s"},
		{frame.Load{Concurrency: 4, Rate: 2, Turns: 8, Think: 2 * time.Second}, "8 turns"}, // nobody thinks in an open loop
	} {
		got := ""
		if figures := (&load{}).Heading(talking(c.load)).Figures; len(figures) > 0 {
			got = figures[0].Text
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.load, got, c.want)
		}
	}
}
