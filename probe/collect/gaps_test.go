package collect

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"sonde/probe/measure"
)

// Few gaps stay as they are, in their order.
func TestFewGapsStayExact(t *testing.T) {
	gaps := []float32{14, 0, 900, 14}
	ms, counts := compactGaps(gaps)
	if counts != nil || len(ms) != 4 || ms[0] != 14 || ms[1] != 0 || ms[2] != 900 || ms[3] != 14 {
		t.Errorf("%v %v", ms, counts)
	}
	gaps[0] = 1
	if ms[0] != 14 {
		t.Error("the memory is shared")
	}
}

// Many gaps are rounded by at most half a percent, none is lost, and a 0 stays a 0.
func TestManyGapsAreRoundedToOnePercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gaps := make([]float32, 3*maxSliceGaps)
	sum, zeros := 0.0, 0
	for i := range gaps {
		if i%10 != 0 {
			gaps[i] = float32(math.Exp(rng.NormFloat64()*2 + 2))
		} else {
			zeros++
		}
		sum += float64(gaps[i])
	}
	c := measure.Client{}
	c.SliceGaps, c.SliceGapCounts = compactGaps(gaps)
	if len(c.SliceGaps) > gapSteps+1 || len(c.SliceGaps) != len(c.SliceGapCounts) {
		t.Fatalf("%d values with %d counts", len(c.SliceGaps), len(c.SliceGapCounts))
	}
	n, got := 0, 0.0
	for ms, count := range c.EachSliceGap() {
		if ms == 0 && count != zeros {
			t.Errorf("%d gaps of 0, want %d", count, zeros)
		}
		n += count
		got += ms * float64(count)
	}
	if n != len(gaps) || math.Abs(got-sum) > 0.005*sum {
		t.Errorf("%d gaps with a sum of %v, want %d with %v", n, got, len(gaps), sum)
	}
	for _, ms := range []float64{0.001, 0.5, 14, 999, 3.6e6} {
		if back := float64(gapOfCell(gapCell(ms))); math.Abs(back-ms) > 0.00501*ms {
			t.Errorf("%v ms is counted as %v", ms, back)
		}
	}
	if gapCell(1e9) >= gapSteps+1 {
		t.Error("a gap beyond the scale has no cell")
	}
}

// Six seconds at 680,000 tokens/s, with all its Frames kept, takes less than 20 MB.
func TestMemoryOfManyTokens(t *testing.T) {
	const streams, perTick, ticks = 64, 680_000 / 4 / 64, 24
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := NewCollector(func() (int, time.Duration) { return 0, 0 })
	tracks := make([]*Track, streams)
	for i := range tracks {
		tracks[i] = c.NewTrack()
		tracks[i].Begin(0, false, 1)
		tracks[i].Sent(0)
	}
	kept := make([]Tick, 0, ticks)
	at := time.Duration(0)
	const step = sliceLength / perTick
	for range ticks {
		for range perTick {
			at += step
			for _, track := range tracks {
				track.Token(at, 0, 1)
			}
		}
		kept = append(kept, c.Tick(at, false))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("%d MB for %d Frames", grown>>20, len(kept))
	}
	if last := kept[ticks-1].Client; last.Gap.N < 3_900_000 || math.Abs(last.Gap.P50-float64(step)/1e6) > 0.01*float64(step)/1e6 {
		t.Errorf("%d gaps, median %v ms, want %v", last.Gap.N, last.Gap.P50, float64(step)/1e6)
	}
	runtime.KeepAlive(kept)
}

// sliceLength is the usual length of a slice.
const sliceLength = 250 * time.Millisecond
