package measure

import (
	"iter"
	"math"
	"slices"
	"time"
)

// maxSliceGaps is how many gaps of one slice a Frame keeps one by one. Above it they are
// rounded and counted, so that a minute of Frames takes the same memory at a hundred
// thousand tokens a second as at a thousand.
const maxSliceGaps = 4096

// Rounded gaps lie on a grid of 1 % steps from 1 µs to an hour.
const (
	gapStep  = 0.00995033085316809 // ln 1.01
	gapMinMS = 1e-3
	gapMaxMS = 3.6e6
	gapSteps = 2212 // ln(gapMaxMS/gapMinMS) / gapStep, rounded up
)

// CompactGaps gives the gaps one by one and no counts while they are few; otherwise
// rounded to 1 %, shortest first, with the count of each. A gap of 0, from chunks that share a
// stamp, stays 0. The result shares no memory with the argument.
func CompactGaps(gaps []float32) (ms []float32, counts []int) {
	if len(gaps) <= maxSliceGaps {
		return slices.Clone(gaps), nil
	}
	grid := make([]uint32, gapSteps+1) // the first is 0
	for _, g := range gaps {
		grid[gapCell(float64(g))]++
	}
	for cell, n := range grid {
		if n > 0 {
			ms, counts = append(ms, gapOfCell(cell)), append(counts, int(n))
		}
	}
	return ms, counts
}

func gapCell(ms float64) int {
	if !(ms > 0) {
		return 0
	}
	return 1 + int(math.Round(math.Log(min(max(ms, gapMinMS), gapMaxMS)/gapMinMS)/gapStep))
}

func gapOfCell(cell int) float32 {
	if cell == 0 {
		return 0
	}
	return float32(gapMinMS * math.Exp(float64(cell-1)*gapStep))
}

// EachSliceGap goes through the gaps that closed in the slice: milliseconds, and how
// many gaps that long.
func (c *Client) EachSliceGap() iter.Seq2[float64, int] {
	return eachGap(c.SliceGaps, c.SliceGapCounts)
}

// gapsKept is how many gaps of one request are kept one by one. What an endless answer adds
// beyond takes no more memory than the grid.
const gapsKept = 16_384

// AddGap notes the gap before a token-bearing chunk.
func (r *Request) AddGap(gap time.Duration) {
	ms := MS(gap)
	if len(r.GapsMS) < gapsKept {
		r.GapsMS = append(r.GapsMS, float32(ms))
		return
	}
	rounded := gapOfCell(gapCell(ms))
	i, known := slices.BinarySearch(r.LaterGapsMS, rounded)
	if !known {
		r.LaterGapsMS, r.LaterGapCounts = slices.Insert(r.LaterGapsMS, i, rounded), slices.Insert(r.LaterGapCounts, i, 0)
	}
	r.LaterGapCounts[i]++
}

// EachGap goes through all gaps of a request: milliseconds, and how many gaps that long.
func (r *Request) EachGap() iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		for ms, n := range eachGap(r.GapsMS, nil) {
			if !yield(ms, n) {
				return
			}
		}
		eachGap(r.LaterGapsMS, r.LaterGapCounts)(yield)
	}
}

// eachGap goes through gaps with the count of each; without a count it is one.
func eachGap(gaps []float32, counts []int) iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		for i, ms := range gaps {
			n := 1
			if i < len(counts) {
				n = counts[i]
			}
			if !yield(float64(ms), n) {
				return
			}
		}
	}
}
