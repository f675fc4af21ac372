package panel

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
)

// Two stretches are past; the next holds 8 arrivals per second, and then there are none.
func TestWhatIsAheadStandsBehindNow(t *testing.T) {
	f := &frame.Frame{Load: frame.LoadState{Ahead: arrivals.Outlook{Step: 5 * time.Second, Past: 2, PerS: []float32{1, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}}
	v := &View{Frame: f, Theme: newTestTheme()}
	if got := ansi.Strip(outlookBars(v, 12)); got != "▂▅┃█▁▁▁▁▁▁▁▁" {
		t.Errorf("%q", got)
	}
	if got := ansi.Strip(outlookLine(v, 28)); !strings.HasPrefix(got, "ahead ▂▅┃█▁") || !strings.HasSuffix(got, " ≤ 8.0/s") && !strings.HasSuffix(got, " ≤ 8/s") {
		t.Errorf("%q", got)
	}
	for w := range 40 {
		if got := ansi.StringWidth(outlookBars(v, w)); got > w {
			t.Errorf("%d cells of %d", got, w)
		}
	}
	for _, odd := range []arrivals.Outlook{{}, {Step: 1}, {Step: 1, Past: 3, PerS: []float32{1}}, {Step: 1, Past: -1, PerS: []float32{1}}} {
		f.Load.Ahead = odd
		if got := outlookLine(v, 28); got != "" {
			t.Errorf("%+v: %q", odd, got)
		}
	}
}
