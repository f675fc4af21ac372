package ui

import (
	"math"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// slice is a Frame of 250 ms that ends at the given time.
func slice(seq uint64, at time.Duration) *frame.Frame {
	return &frame.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond}
}

func TestPercentilesAreInterpolated(t *testing.T) {
	// Ranks 0.5·4 = 2, 0.95·4 = 3.8, 0.99·4 = 3.96: 30, 40+0.8·960, 40+0.96·960.
	got := tripleOf([]float64{40, 10, 1000, 20, 30})
	for i, want := range []float64{30, 808, 961.6} {
		if !near(got[i], want) {
			t.Errorf("percentile %d is %v, want %v", i, got[i], want)
		}
	}
	if one := tripleOf([]float64{7}); one != (triple{7, 7, 7}) {
		t.Errorf("one sample gives %v", one)
	}
	if none := tripleOf(nil); !math.IsNaN(none[0]) {
		t.Errorf("no sample gives %v", none)
	}
}

func TestColumnsAreSecondsAndDotsTheirHalves(t *testing.T) {
	h := newHistory(time.Second)
	for i := 1; i <= 8; i++ { // two seconds
		f := slice(uint64(i), time.Duration(i)*250*time.Millisecond)
		f.Client.SliceTTFT = []float64{float64(100 * i)}
		f.Client.SliceOutTokens, f.Client.SliceInTokens = 10, 100*i
		h.fold(f)
	}
	if len(h.columns) != 2 {
		t.Fatalf("%d columns, want 2", len(h.columns))
	}
	lines := latencyLines(h.last(2), 3, ttftOf) // one more cell than columns
	// The median of 100, 200; of 300, 400; …; nothing in the cell before.
	for i, want := range []float64{math.NaN(), math.NaN(), 150, 350, 550, 750} {
		if got := lines[0][i]; !near(got, want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("dot %d is %v, want %v", i, got, want)
		}
	}
	// 40 output tokens a second; 100+200+300+400 input tokens in the first.
	if got := outRate(h.columns[0]); !near(got, 40) {
		t.Errorf("output rate %v, want 40", got)
	}
	if got := inRate(h.columns[0]); !near(got, 1000) {
		t.Errorf("input rate %v, want 1000", got)
	}
}

func TestReadingsAreAveragedAndStaleOnesLeftOut(t *testing.T) {
	h := newHistory(time.Second)
	for i, kv := range []float64{0.2, 0.4, 0.6, 0.8} {
		f := slice(uint64(i+1), time.Duration(i+1)*250*time.Millisecond)
		f.Target.Started = fakeStart
		f.Engine.Have = true
		f.Engine.Reading.At = fakeStart.Add(f.At)
		if i == 3 {
			f.Engine.Reading.At = fakeStart.Add(-time.Minute)
		}
		f.Engine.Reading.KVFill = opt.Of(kv)
		h.fold(f)
	}
	if got := kvFill(h.columns[0]); !near(got, 0.4) {
		t.Errorf("KV fill %v, want the mean 0.4 of 0.2, 0.4, 0.6", got)
	}
	if got := running(h.columns[0]); !math.IsNaN(got) {
		t.Errorf("running is %v although nobody told it", got)
	}
}

func TestPausesLeaveEmptyColumns(t *testing.T) {
	h := newHistory(time.Second)
	h.fold(slice(1, time.Second))
	h.fold(slice(2, 5*time.Second))
	if len(h.columns) != 5 {
		t.Fatalf("%d columns, want 5", len(h.columns))
	}
	if got := outRate(h.columns[2]); !math.IsNaN(got) {
		t.Errorf("a second without Frames has the rate %v", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := newHistory(time.Second)
	for i := 1; i <= 3*maxColumns; i++ {
		h.fold(slice(uint64(i), time.Duration(i)*time.Second))
	}
	if n := len(h.columns); n > maxColumns || n < keepColumns {
		t.Errorf("%d columns are kept, want %d to %d", n, keepColumns, maxColumns)
	}
	if got, want := h.first+int64(len(h.columns))-1, int64(3*maxColumns)-1; got != want {
		t.Errorf("the open column has number %d, want %d", got, want)
	}
}

func TestAFarJumpBeginsAnew(t *testing.T) {
	h := newHistory(time.Second)
	h.fold(slice(1, time.Hour))
	h.fold(slice(2, time.Second)) // a recording was started over
	h.fold(slice(3, 100*time.Hour))
	if len(h.columns) != 1 {
		t.Errorf("%d columns, want 1", len(h.columns))
	}
}

func TestLongSlicesMakeLongerColumns(t *testing.T) {
	h := newHistory(time.Second)
	f := slice(1, 2*time.Second)
	f.Slice = 2 * time.Second
	h.fold(f)
	if h.width != 4*time.Second {
		t.Errorf("a column is %v, want 4 s", h.width)
	}
}

func TestStreamCellsKeepTheWorst(t *testing.T) {
	h := newHistory(time.Second)
	states := []measure.StreamCell{
		{Slot: 2, State: measure.StreamWaiting},
		{Slot: 2, State: measure.StreamDecode, MaxGapMS: 90, Tokens: 3},
		{Slot: 2, State: measure.StreamDecode, MaxGapMS: 20, Tokens: 5, Ended: true, Failed: true},
		{Slot: 2, State: measure.StreamIdle},
	}
	for i, c := range states {
		f := slice(uint64(i+1), time.Duration(i+1)*250*time.Millisecond)
		f.Streams = []measure.StreamCell{c, {Slot: -1}, {Slot: maxSlots}}
		h.fold(f)
	}
	got := h.columns[0].streams
	if len(got) != 3 {
		t.Fatalf("%d slots, want 3", len(got))
	}
	s := got[2].state
	if s.State != measure.StreamDecode || s.MaxGapMS != 90 || s.Tokens != 8 || !s.Ended || !s.Failed {
		t.Errorf("got %+v", s)
	}
}

func TestGapLevels(t *testing.T) {
	for gap, want := range map[float64]int{10: 0, 24: 0, 25: 1, 45: 2, 80: 3, 140: 4, 1e9: 4} {
		if got := gapLevel(gap, 10); got != want {
			t.Errorf("a gap of %v ms where 10 is usual has level %d, want %d", gap, got, want)
		}
	}
	if got := gapLevel(500, 0); got != 0 {
		t.Errorf("without a usual gap the level is %d", got)
	}
}

func TestGapCountsKeepEverySample(t *testing.T) {
	var g gapCounts
	g.add(&measure.Client{SliceGaps: []float32{0, -1, float32(math.NaN()), 14, 14, 14, 14, 412, float32(math.Inf(1))}})
	total := uint32(0)
	for _, n := range g.bins {
		total += n
	}
	if total != 9 {
		t.Errorf("%d samples are counted, want 9", total)
	}
	_, most, _ := g.quantiles(0, 1)
	if most < 9e5 {
		t.Errorf("the largest is %v ms, want the end of the scale", most)
	}
	if got := gapBinMS(gapBin(14)); math.Abs(got-14) > 14*0.02 {
		t.Errorf("14 ms is kept as %v", got)
	}
}

func TestBridgeJoinsNearNeighboursOnly(t *testing.T) {
	nan := math.NaN()
	ys := []float64{10, nan, nan, 40, nan, nan, nan, nan, 80}
	bridge(ys, 3)
	for i, want := range []float64{10, 20, 30, 40, nan, nan, nan, nan, 80} {
		if got := ys[i]; !near(got, want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("dot %d is %v, want %v", i, got, want)
		}
	}
}

func TestPositionsAverageGapsByPlace(t *testing.T) {
	var p positions
	f := slice(1, time.Second)
	f.Load.Level = 1
	gaps := make([]float32, 2*positionStep)
	for i := range gaps {
		gaps[i] = float32(10 + 10*(i/positionStep))
	}
	f.Requests = []measure.Request{{GapsMS: gaps}, {GapsMS: gaps[:positionStep]}, {GapsMS: gaps, Long: true}, {GapsMS: gaps, Class: "timeout"}}
	p.fold(f)
	if p.n != 2 || len(p.buckets) != 2 || p.buckets[0].value() != 10 || p.buckets[1].value() != 20 {
		t.Errorf("got %d requests, %+v", p.n, p.buckets)
	}
}

func TestCloneStaysWhileTheOriginalGoesOn(t *testing.T) {
	h := newHistory(time.Second)
	f := slice(1, 250*time.Millisecond)
	f.Client.SliceTTFT, f.Client.SliceGaps = []float64{100}, []float32{14}
	f.Streams = []measure.StreamCell{{Slot: 0, MaxGapMS: 5}}
	h.fold(f)
	c := h.clone()
	f.At, f.Client.SliceTTFT, f.Streams = 500*time.Millisecond, []float64{900}, []measure.StreamCell{{Slot: 0, MaxGapMS: 50}}
	h.fold(f)
	if got := ttftOf(&c.columns[0].dots[0]); got != (triple{100, 100, 100}) {
		t.Errorf("the copy's TTFT became %v", got)
	}
	if c.columns[0].gaps.bins[gapBin(14)] != 1 || c.columns[0].streams[0].state.MaxGapMS != 5 {
		t.Error("the copy's gaps or streams changed")
	}
}
