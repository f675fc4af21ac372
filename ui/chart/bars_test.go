package chart

import (
	"math"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Ten cells are twenty halves: 0.47 is 9.4 of them, 0.48 is 9.6.
func TestBarCountsHalfCells(t *testing.T) {
	for share, want := range map[float64]string{
		0: "          ", math.NaN(): "          ", math.Inf(1): "          ", -1: "          ",
		0.47: "████▌     ", 0.48: "█████     ", 1: "██████████", 1.7: "██████████",
	} {
		if got := ansi.Strip(Bar(10, share, lipgloss.NewStyle())); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
	if got := Bar(0, 0.6, lipgloss.NewStyle()); got != "" {
		t.Errorf("no room: %q", got)
	}
}

func TestSpark(t *testing.T) {
	ys := []float64{9, 0, 1, 2, 3, 4, 5, 6, 7, 8, nan, 8.1, -1}
	wantPicture(t, []string{Spark(12, ys, 8, plain)}, "▁▂▃▄▅▆▇██ ▲▁")
	// Without a top the largest value shown is the full height.
	wantPicture(t, []string{Spark(4, []float64{0, 50, 100}, 0, plain)}, " ▁▅█")
	wantPicture(t, []string{Spark(3, []float64{0, 0, 0}, nan, plain)}, "▁▁▁")
	wantString(t, Spark(3, []float64{1, nan}, 1, red), " "+redOn+"█"+off+" ")
	wantString(t, Spark(0, ys, 1, red), "")
}
