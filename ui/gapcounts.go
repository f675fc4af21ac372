package ui

import (
	"math"

	"sonde/probe/measure"
)

// gapCounts is a histogram of gaps on a fine logarithmic scale, so that a column
// costs the same whether it holds ten gaps or fifty thousand, and can be drawn
// at any height and range later.
type gapCounts struct {
	bins []uint32 // empty until the first gap
	n    int
}

// The scale reaches from 10 µs to 1000 s in bins of 3.7 %. Anything outside
// counts in the first or last bin.
const (
	gapBinMinMS     = 0.01
	gapBinsADecade  = 64
	gapBinDecades   = 8
	gapBinCount     = gapBinsADecade * gapBinDecades
	gapBinLogMin    = -2 // log10 of gapBinMinMS
	halfABin        = 0.5
	gapBinsADecadeF = float64(gapBinsADecade)
)

func (g *gapCounts) add(c *measure.Client) {
	if len(c.SliceGaps) > 0 && g.bins == nil {
		g.bins = make([]uint32, gapBinCount)
	}
	for ms, n := range c.EachSliceGap() {
		g.bins[gapBin(ms)] += uint32(n)
		g.n += n
	}
}

// gapBin is the bin of a gap. A gap of 0 (chunks that share a stamp) and what is
// not a number belong to the first.
func gapBin(ms float64) int {
	if !(ms > gapBinMinMS) {
		return 0
	}
	at := (math.Log10(ms) - gapBinLogMin) * gapBinsADecadeF
	return int(math.Min(at, gapBinCount-1))
}

// gapBinMS is the middle of a bin, in milliseconds.
func gapBinMS(bin int) float64 {
	return math.Pow(10, gapBinLogMin+(float64(bin)+halfABin)/gapBinsADecadeF)
}

// quantiles gives the bounds of the gaps in the column without the rarest: quantiles
// low and high, in milliseconds.
func (g *gapCounts) quantiles(low, high float64) (lowMS, highMS float64, ok bool) {
	if g.n == 0 {
		return 0, 0, false
	}
	return g.quantile(low), g.quantile(high), true
}

func (g *gapCounts) quantile(q float64) float64 {
	rank := uint64(q * float64(g.n-1))
	var seen uint64
	for bin, n := range g.bins {
		seen += uint64(n)
		if n > 0 && seen > rank {
			return gapBinMS(bin)
		}
	}
	return gapBinMS(gapBinCount - 1)
}
