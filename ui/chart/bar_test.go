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
		if got := ansi.Strip(Bar(10, share, lipgloss.NewStyle(), false)); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
	if got := Bar(4, 0.6, lipgloss.NewStyle(), true); got != "##= " {
		t.Errorf("ASCII: %q", got)
	}
	if got := Bar(0, 0.6, lipgloss.NewStyle(), false); got != "" {
		t.Errorf("no room: %q", got)
	}
}
