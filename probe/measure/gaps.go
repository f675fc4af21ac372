package measure

import (
	"iter"
	"math"
	"slices"
)

// maxSliceGaps is how many gaps of one slice a Frame keeps one by one. Above it they are
// rounded and counted, so that a minute of Frames takes the same memory at a hundred
// thousand tokens a second as at a thousand.
const maxSliceGaps = 4096

// Rounded gaps lie on a grid of 1 % steps from 1 µs to an hour, the range of a Dist.
var (
	gapStep  = math.Log(1.01)
	gapSteps = int(math.Log(histMaxMS/histMinMS)/gapStep) + 2
)

const (
	histMinMS = histMinUS / float64(usPerMS)
	histMaxMS = float64(histMaxUS) / usPerMS
)

// EachSliceGap goes through the gaps that closed in the slice: milliseconds, and how
// many gaps that long.
func (c *Client) EachSliceGap() iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		for i, ms := range c.SliceGaps {
			n := 1
			if i < len(c.SliceGapCounts) {
				n = c.SliceGapCounts[i]
			}
			if !yield(float64(ms), n) {
				return
			}
		}
	}
}

// compactGaps gives the gaps one by one and no counts while they are few; otherwise
// rounded to 1 %, shortest first, with the count of each. A gap of 0, from chunks that share a
// stamp, stays 0. The result shares no memory with the argument.
func compactGaps(gaps []float32) (ms []float32, counts []int) {
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
	return 1 + int(math.Round(math.Log(min(max(ms, histMinMS), histMaxMS)/histMinMS)/gapStep))
}

func gapOfCell(cell int) float32 {
	if cell == 0 {
		return 0
	}
	return float32(histMinMS * math.Exp(float64(cell-1)*gapStep))
}
