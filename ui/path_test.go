package ui

import (
	"math"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// counted is an engine that has served n requests with a TTFT of sum seconds in all.
func counted(at time.Duration, n, sum float64) engine.Status {
	s := said(at, 0)
	s.Reading.TTFT = engine.Histogram{Bounds: []float64{math.Inf(1)}, Counts: []float64{n}, Count: n, Sum: sum}
	return s
}

// Of 100 requests in the last 30 s the engine took 40 ms each, and we 55 ms.
func TestWhatIsLeftOfOurTTFTIsThePath(t *testing.T) {
	p := &picture{frame: &frame.Frame{}, history: newHistory(time.Second)}
	p.frame.Client.Window = 30 * time.Second
	p.frame.Client.TTFT = measure.Summary{N: 100, Mean: 55}
	th := newTheme(colorprofile.ANSI256, false)
	text := func() (out []string) {
		for _, f := range pathNote(th, p) {
			out = append(out, f.text)
		}
		return out
	}
	if got := text(); got != nil {
		t.Errorf("without the engine's word: %q", got)
	}
	for _, s := range []engine.Status{counted(0, 1000, 500), counted(20*time.Second, 2000, 900), counted(50*time.Second, 2100, 904)} {
		p.history.engine = p.history.engine.fold(s)
	}
	if got := text(); len(got) != 2 || got[0] != "engine's TTFT mean 40.0 ms" || got[1] != "path 15.0 ms" {
		t.Errorf("%q", got)
	}
	p.frame.Client.TTFT.N = 70 // the engine serves others too
	if got := text(); len(got) != 1 {
		t.Errorf("with other clients: %q", got)
	}
	p.frame.Client.TTFT = measure.Summary{N: 100, Mean: 39}
	if got := text(); len(got) != 1 {
		t.Errorf("faster than the engine: %q", got)
	}
	again := counted(51*time.Second, 1, 1)
	again.Reading.Restarted = true
	if p.history.engine = p.history.engine.fold(again); text() != nil {
		t.Errorf("after a restart: %q", text())
	}
}
