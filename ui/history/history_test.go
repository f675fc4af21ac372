package history

import (
	"math"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// slice is a Frame of 250 ms that ends at the given time.
func slice(seq uint64, at time.Duration) *frame.Frame {
	return &frame.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond}
}

func TestColumnsAreSecondsAndDotsTheirHalves(t *testing.T) {
	h := New(time.Second)
	for i := 1; i <= 8; i++ { // two seconds
		f := slice(uint64(i), time.Duration(i)*250*time.Millisecond)
		f.Client.SliceTTFT = []float64{float64(100 * i)}
		f.Client.SliceOutTokens, f.Client.SliceInTokens = 10, 100*i
		h.Fold(f)
	}
	if len(h.columns) != 2 {
		t.Fatalf("%d columns, want 2", len(h.columns))
	}
	// The median of 100, 200; of 300, 400; and so on.
	for i, want := range []float64{150, 350, 550, 750} {
		if got := h.columns[i/2].Dots[i%2].TTFT.P50; !near(got, want) {
			t.Errorf("dot %d is %v, want %v", i, got, want)
		}
	}
	// 40 output tokens a second; 100+200+300+400 input tokens in the first.
	if got := h.columns[0].OutPerS().V; !near(got, 40) {
		t.Errorf("output rate %v, want 40", got)
	}
	if got := h.columns[0].InPerS().V; !near(got, 1000) {
		t.Errorf("input rate %v, want 1000", got)
	}
}

func TestReadingsAreAveragedAndStaleOnesLeftOut(t *testing.T) {
	h := New(time.Second)
	for i, kv := range []float64{0.2, 0.4, 0.6, 0.8} {
		f := slice(uint64(i+1), time.Duration(i+1)*250*time.Millisecond)
		f.Target.Started = started
		f.Engine.Have = true
		f.Engine.Reading.At = started.Add(f.At)
		if i == 3 {
			f.Engine.Reading.At = started.Add(-time.Minute)
		}
		f.Engine.Reading.KVFill = opt.Of(kv)
		h.Fold(f)
	}
	if got := h.columns[0].KV.Mean(); !near(got.V, 0.4) {
		t.Errorf("KV fill %v, want the mean 0.4 of 0.2, 0.4, 0.6", got)
	}
	if got := h.columns[0].Running.Mean(); got.OK {
		t.Errorf("running is %v although nobody reported it", got)
	}
}

func TestPausesLeaveEmptyColumns(t *testing.T) {
	h := New(time.Second)
	h.Fold(slice(1, time.Second))
	h.Fold(slice(2, 5*time.Second))
	if len(h.columns) != 5 {
		t.Fatalf("%d columns, want 5", len(h.columns))
	}
	if got := h.columns[2].OutPerS(); got.OK {
		t.Errorf("a second without Frames has the rate %v", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := New(time.Second)
	for i := 1; i <= 3*maxColumns; i++ {
		h.Fold(slice(uint64(i), time.Duration(i)*time.Second))
	}
	if n := len(h.columns); n > maxColumns || n < Keep {
		t.Errorf("%d columns are kept, want %d to %d", n, Keep, maxColumns)
	}
	if got, want := h.first+int64(len(h.columns))-1, int64(3*maxColumns)-1; got != want {
		t.Errorf("the open column has number %d, want %d", got, want)
	}
}

func TestAFarJumpBeginsAnew(t *testing.T) {
	h := New(time.Second)
	h.Fold(slice(1, time.Hour))
	h.Fold(slice(2, time.Second)) // a recording was started over
	h.Fold(slice(3, 100*time.Hour))
	if len(h.columns) != 1 {
		t.Errorf("%d columns, want 1", len(h.columns))
	}
}

func TestLongSlicesMakeLongerColumns(t *testing.T) {
	h := New(time.Second)
	f := slice(1, 2*time.Second)
	f.Slice = 2 * time.Second
	h.Fold(f)
	if h.Width != 4*time.Second {
		t.Errorf("a column is %v, want 4 s", h.Width)
	}
}

func TestStreamCellsKeepTheWorst(t *testing.T) {
	h := New(time.Second)
	states := []measure.StreamCell{
		{Slot: 2, State: measure.StreamWaiting},
		{Slot: 2, State: measure.StreamDecode, MaxGapMS: 90, Tokens: 3},
		{Slot: 2, State: measure.StreamDecode, MaxGapMS: 20, Tokens: 5, Ended: true, Failed: true},
		{Slot: 2, State: measure.StreamIdle},
	}
	for i, c := range states {
		f := slice(uint64(i+1), time.Duration(i+1)*250*time.Millisecond)
		f.Streams = []measure.StreamCell{c, {Slot: -1}, {Slot: maxSlots}}
		h.Fold(f)
	}
	got := h.columns[0].Streams
	if len(got) != 3 {
		t.Fatalf("%d slots, want 3", len(got))
	}
	s := got[2]
	if s.State != measure.StreamDecode || s.MaxGapMS != 90 || s.Tokens != 8 || !s.Ended || !s.Failed {
		t.Errorf("got %+v", s)
	}
}

func TestGapCountsKeepEverySample(t *testing.T) {
	var g Gaps
	g.add(&measure.Client{SliceGaps: []float32{0, -1, float32(math.NaN()), 14, 14, 14, 14, 412, float32(math.Inf(1))}})
	total := uint32(0)
	for _, n := range g.Bins {
		total += n
	}
	if total != 9 {
		t.Errorf("%d samples are counted, want 9", total)
	}
	most, _ := g.Quantile(1)
	if most < 9e5 {
		t.Errorf("the largest is %v ms, want the end of the scale", most)
	}
	if got := GapMS(gapBin(14)); math.Abs(got-14) > 14*0.02 {
		t.Errorf("14 ms is kept as %v", got)
	}
}

func TestPositionsAverageGapsByPlace(t *testing.T) {
	var p Positions
	f := slice(1, time.Second)
	f.Load.Level = 1
	gaps := make([]float32, 2*PositionStep)
	for i := range gaps {
		gaps[i] = float32(10 + 10*(i/PositionStep))
	}
	f.Requests = []measure.Request{{GapsMS: gaps}, {GapsMS: gaps[:PositionStep]}, {GapsMS: gaps, Long: true}, {GapsMS: gaps, Class: "timeout"}}
	p.fold(f)
	if p.Requests != 2 || len(p.Buckets) != 2 || p.Buckets[0].Mean().V != 10 || p.Buckets[1].Mean().V != 20 {
		t.Errorf("got %d requests, %+v", p.Requests, p.Buckets)
	}
}

func TestCloneStaysWhileTheOriginalGoesOn(t *testing.T) {
	h := New(time.Second)
	f := slice(1, 250*time.Millisecond)
	f.Client.SliceTTFT, f.Client.SliceGaps = []float64{100}, []float32{14}
	f.Streams = []measure.StreamCell{{Slot: 0, MaxGapMS: 5}}
	h.Fold(f)
	c := h.Clone()
	f.At, f.Client.SliceTTFT, f.Streams = 500*time.Millisecond, []float64{900}, []measure.StreamCell{{Slot: 0, MaxGapMS: 50}}
	h.Fold(f)
	if got := c.columns[0].Dots[0].TTFT; got.N != 1 || got.P99 != 100 {
		t.Errorf("the copy's TTFT became %v", got)
	}
	if c.columns[0].Gaps.Bins[gapBin(14)] != 1 || c.columns[0].Streams[0].MaxGapMS != 5 {
		t.Error("the copy's gaps or streams changed")
	}
}

// said is what an engine says after some seconds; histograms have buckets of
// 0.1, 0.2 and infinity seconds.
func said(after time.Duration, inRate float64, counts ...float64) *engine.Status {
	s := &engine.Status{Have: true, Reading: engine.Reading{At: started.Add(after), PromptTokensPerS: opt.Of(inRate)}}
	if len(counts) == 3 {
		s.Reading.TTFT = engine.Histogram{Bounds: []float64{0.1, 0.2, math.Inf(1)}, Counts: counts, Count: counts[2]}
	}
	return s
}

func TestAnEngineRateIsAMeanOfTenSeconds(t *testing.T) {
	var l Engine
	for i := range 30 { // 900 in every third second, 0 between
		rate := 0.0
		if i%3 == 0 {
			rate = 900
		}
		l.fold(said(time.Duration(i)*time.Second, rate))
		l.fold(said(time.Duration(i)*time.Second, rate)) // the next Frame has the same reading
	}
	// Of the seconds 20 to 29, 21, 24 and 27 have 900: 2 700 / 10.
	if got := l.InPerS(); !got.OK || !near(got.V, 270) {
		t.Errorf("mean %v, want 270", got)
	}
	if got := new(Engine).InPerS(); got.OK {
		t.Errorf("without readings the mean is %v", got)
	}
}

func TestTheEngineLogKeepsAMinute(t *testing.T) {
	var l Engine
	for i := range 200 {
		l.fold(said(time.Duration(i)*time.Second, 0))
	}
	if len(l.readings) != 61 || !l.readings[0].At.Equal(started.Add(139*time.Second)) {
		t.Errorf("%d readings from %v on", len(l.readings), l.readings[0].At)
	}
}

// A histogram's growth begins with the window, and anew where the counters do.
func TestHistogramsGrow(t *testing.T) {
	var l Engine
	grown := func(window time.Duration) float64 {
		return l.Grown(func(r *engine.Reading) *engine.Histogram { return &r.TTFT }, window).Count
	}
	if l.fold(said(0, 0, 1000, 2000, 3000)); grown(EngineWindow) != 0 {
		t.Errorf("one reading has grown by %v", grown(EngineWindow))
	}
	l.fold(said(5*time.Second, 0, 1080, 2100, 3100))
	l.fold(said(10*time.Second, 0, 1080, 2100, 4100))
	if grown(EngineWindow) != 1100 || grown(5*time.Second) != 1000 {
		t.Errorf("%v in a minute, %v in 5 s", grown(EngineWindow), grown(5*time.Second))
	}
	again := said(15*time.Second, 0, 1, 1, 1)
	again.Reading.Restarted = true
	if l.fold(again); grown(EngineWindow) != 0 {
		t.Errorf("over a restart: %v", grown(EngineWindow))
	}
}

// Prompts come every other second, 1,000 tokens each, of which 250 hit: 25 %, also
// right after a reading in which nobody asked, and long after the last one.
func TestPrefixHitsAreAMeanOfTenSeconds(t *testing.T) {
	var l Engine
	asked := 0.0
	for i := range 40 {
		s := said(time.Duration(i)*time.Second, 0)
		if i%2 == 0 && i < 20 {
			asked += 1000
			s.Reading.PrefixHitRate = opt.Of(0.25)
		}
		s.Reading.PrefixQueries, s.Reading.PrefixHits = opt.Of(asked), opt.Of(asked/4)
		l.fold(s)
		if got := l.PrefixHits(); i >= 2 && (!got.OK || !near(got.V, 0.25)) {
			t.Errorf("after %d s: %v", i, got)
		}
	}
	restarted := said(40*time.Second, 0)
	restarted.Reading.Restarted, restarted.Reading.PrefixQueries, restarted.Reading.PrefixHits = true, opt.Of(0.), opt.Of(0.)
	l.fold(restarted)
	if got := l.PrefixHits(); got.OK {
		t.Errorf("over a restart: %v", got)
	}
	gauge := said(0, 0)
	gauge.Reading.PrefixHitRate = opt.Of(0.5)
	l = Engine{}
	l.fold(gauge)
	if got := l.PrefixHits(); !got.OK || !near(got.V, 0.5) {
		t.Errorf("an engine with a gauge: %v", got)
	}
}
