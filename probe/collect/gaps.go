package collect

import (
	"math"
	"slices"
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
	return 1 + int(math.Round(math.Log(min(max(ms, gapMinMS), gapMaxMS)/gapMinMS)/gapStep))
}

func gapOfCell(cell int) float32 {
	if cell == 0 {
		return 0
	}
	return float32(gapMinMS * math.Exp(float64(cell-1)*gapStep))
}
