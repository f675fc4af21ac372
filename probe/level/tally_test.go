package level

import (
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Where several engines answer in turn, what was read before that was known is of several too.
func TestSeveralEnginesLeaveNoFigures(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tally := NewTally(frame.Load{}, nil)
	tally.Open(0)
	for i := range 8 {
		f := frame.Frame{At: time.Duration(i+1) * time.Second, Slice: time.Second, Target: frame.Target{Started: started}}
		f.Engine = engine.Status{State: engine.Ready, Have: true}
		f.Engine.Reading.At, f.Engine.Reading.Running, f.Engine.Reading.Restarted = started.Add(f.At), opt.Of(float64(3+i%2)), i%2 == 1
		if i > 5 {
			f.Engine = engine.Status{State: engine.Several, Why: "several engines"}
		}
		tally.AddFrame(&f)
	}
	l := tally.Level()
	if l.Engine.Running.OK || l.Engine.Restarts != 0 || l.Sources.Read || l.Sources.Engine != engine.Several {
		t.Errorf("running %v, %d restarts, read %v, %v", l.Engine.Running, l.Engine.Restarts, l.Sources.Read, l.Sources.Engine)
	}
}

// Of ten chunks after the first, two gaps of 2 s are known; the other eight chunks fill the 6 s up
// to the last one: at 2, 4, 4.75, 5.5, 6.25 … 10 s. Four of them arrive by 6 s.
func TestChunksWhoseGapsAreNotKeptAreSpreadEvenly(t *testing.T) {
	r := measure.Request{Streamed: true, Chunks: 11, FirstTokens: 1, OutTokens: 21, Last: 10 * time.Second, GapsMS: []float32{2000, 2000}}
	var s Span
	s.Open(0)
	s.Close(6 * time.Second)
	if n := laterChunksWithin(&r, &s); n != 4 {
		t.Errorf("%d chunks, want 4", n)
	}
	if tokens := tokensWithin(&r, &s); tokens != 1+4*2 {
		t.Errorf("%v tokens, want the first and four chunks of two", tokens)
	}
}
