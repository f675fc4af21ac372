package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// floored is a picture of a Frame with these figures.
func floored(r roofline.Bounds) *picture {
	f := slice(1, time.Second)
	f.Roofline = r
	return &picture{frame: f, have: true, history: newHistory(time.Second)}
}

func TestFloorsAreInZoomAndExplanation(t *testing.T) {
	th := newTheme(colorprofile.TrueColor, false)
	p := floored(roofline.Bounds{
		TPOTFloorMS: opt.Of(5.1), TTFTFloorMS: opt.Of(44.87), MBU: opt.Of(0.362), MFU: opt.Of(1.3), Assumes: "7B on X",
	})
	for _, c := range []struct {
		panel      panel
		zoom, told []string
	}{
		{newTPOTPanel(th), []string{"floor 5.10 ms", "MBU 36 %"}, []string{"floor 5.10 ms: least", "MBU 36 %: memory", "assumes 7B on X"}},
		{newTTFTPanel(th), []string{"floor 44.9 ms", "MFU 130 %"}, []string{"floor 44.9 ms: least", "MFU 130 %: model", "assumes 7B on X"}},
	} {
		zoomed := ansi.Strip(strings.Join(c.panel.zoomed(p, 100, 30), "\n"))
		for _, want := range c.zoom {
			if !strings.Contains(zoomed, want) {
				t.Errorf("zoomed lacks %q:\n%s", want, zoomed)
			}
		}
		told := strings.Join(c.panel.explain(p).now, "\n")
		for _, want := range c.told {
			if !strings.Contains(told, want) {
				t.Errorf("explained lacks %q:\n%s", want, told)
			}
		}
	}
}

func TestNoFloorHasItsReason(t *testing.T) {
	th := newTheme(colorprofile.TrueColor, false)
	tpot := newTPOTPanel(th)
	p := floored(roofline.Bounds{Why: "no GPU can be\x1b[31m seen"})
	if told := strings.Join(tpot.explain(p).now, "\n"); !strings.Contains(told, "floor —: no GPU can be") || strings.Contains(told, "\x1b") {
		t.Errorf("told %q", told)
	}
	if zoomed := ansi.Strip(strings.Join(tpot.zoomed(p, 100, 30), "\n")); strings.Contains(zoomed, "floor") || strings.Contains(zoomed, "MBU") {
		t.Errorf("zoomed shows a floor:\n%s", zoomed)
	}
}
