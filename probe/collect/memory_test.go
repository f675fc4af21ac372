package collect

import (
	"math"
	"runtime"
	"testing"
	"time"
)

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
