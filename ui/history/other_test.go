package history

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// ran feeds seconds of Frames, four a second. The load begins after the idle ones; the second n
// of it has 100·n output tokens and gaps of n ms.
func ran(idle, busy, streams int, add func(*frame.Frame)) {
	for i := range 4 * (idle + busy) {
		f := slice(uint64(i+1), time.Duration(i+1)*250*time.Millisecond)
		if n := i/4 - idle; n >= 0 {
			f.Load.Requested.Concurrency = streams
			f.Client.SliceOutTokens = 25 * n
			f.Client.SliceGaps = []float32{float32(n), float32(n)}
			f.Client.TTFT = measure.Summary{N: 1, P50: float64(n)}
		}
		add(f)
	}
}

// Ours begins its load after 3 s, the other one after 7.
func TestRunsAreAlignedWhereTheirLoadsBegan(t *testing.T) {
	h, timeline := New(time.Second), NewTimeline(time.Second)
	ran(3, 10, 8, h.Fold)
	ran(7, 6, 8, timeline.Add)
	beside := NewOther("b", nil, timeline).Beside(h, 13, false)
	for i, c := range beside {
		n, got := i-3, c.OutPerS()
		if known := n >= 0 && n < 6; got.OK != known || known && !near(got.V, float64(100*n)) {
			t.Errorf("second %d of our load has %v", n, got)
		}
	}
	if c := beside[8]; c.Window.TTFT.P50 != 5 || !near(c.GapMS(0.5).V/5, c.GapMS(0.99).V/5) || c.GapMS(0.5).V < 4.9 || c.GapMS(0.5).V > 5.1 {
		t.Errorf("TTFT %v, gap %v", c.Window.TTFT.P50, c.GapMS(0.5))
	}
	if c := beside[8]; c.Gaps.Bins != nil || c.Streams != nil {
		t.Error("a column of another run has kept its gaps or streams")
	}
}

// A History that begins in the middle of a recording is told when its load began.
func TestAlignmentAfterASeek(t *testing.T) {
	h, timeline := New(time.Second), NewTimeline(time.Second)
	ran(0, 30, 8, timeline.Add)
	h.SetLoadBegan(2 * time.Second)
	f := slice(1, 12*time.Second) // it ends the second number 11, which is 9 of the load
	f.Load.Requested.Concurrency = 8
	h.Fold(f)
	if got := NewOther("b", nil, timeline).Beside(h, 1, false)[0].OutPerS(); !near(got.V, 900) {
		t.Errorf("%v, want 900", got)
	}
}

func TestByLoadALevelStandsBesideItsStretch(t *testing.T) {
	h := New(time.Second)
	ran(1, 2, 8, h.Fold)
	at := func(streams, input int, out float64) level.Level {
		l := level.Level{Load: frame.Load{Concurrency: streams, InputTokens: input}, Rates: level.Rates{OutTokensPerS: opt.Of(out)}}
		l.TTFT, l.Engine.KV = measure.Summary{N: 9, P50: 70}, opt.Of(0.5)
		return l
	}
	o := NewOther("b", []level.Level{at(4, 0, 1), at(8, 64, 2), at(8, 0, 3)}, nil) // the last has our lengths
	beside := o.Beside(h, 3, false)
	if got := beside[0].OutPerS(); got.OK {
		t.Errorf("before the load: %v", got)
	}
	c := beside[2]
	if got := c.OutPerS(); !near(got.V, 3) || c.Dots[1].TTFT.P50 != 70 || c.KV.Mean().V != 0.5 || c.InPerS().OK {
		t.Errorf("%v, %+v", got, c)
	}
	if o.At(frame.Load{Rate: 8}) != nil || o.At(frame.Load{Concurrency: 4, InputTokens: 999}) != &o.Levels[0] {
		t.Error("another kind of loop has the level, or one at other lengths has not")
	}
}

func TestATimelineIsBounded(t *testing.T) {
	timeline := NewTimeline(time.Second)
	for _, at := range []time.Duration{time.Second, 3 * time.Second, 90 * time.Hour} {
		f := slice(1, at)
		f.Load.Requested.Concurrency = 1
		timeline.Add(f)
	}
	if n := len(timeline.columns); n != 3 {
		t.Errorf("%d columns, want the three before the jump", n)
	}
}
