package panel

import (
	"math"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/ui/history"
	"sonde/ui/theme"
)

// loadCells is the room in the load panel at 120×40.
const loadCells = 27

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newTestTheme() *theme.Palette { return theme.New(colorprofile.ANSI256, false) }

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// slice is a Frame of 250 ms that ends at the given time.
func slice(seq uint64, at time.Duration) *frame.Frame {
	return &frame.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond}
}

// read folds a reading of the engine into the history.
func read(h *history.History, s engine.Status) {
	f := slice(1, s.Reading.At.Sub(started)+time.Second)
	f.Engine = s
	h.Fold(f)
}

// counted is an engine that has served n requests with a TTFT of sum seconds in all.
func counted(at time.Duration, n, sum float64) engine.Status {
	s := engine.Status{Have: true, Reading: engine.Reading{At: started.Add(at), PromptTokensPerS: opt.Of(0)}}
	s.Reading.TTFT = engine.Histogram{Bounds: []float64{math.Inf(1)}, Counts: []float64{n}, Count: n, Sum: sum}
	return s
}
