package history

import (
	"math"

	"sonde/probe/measure"
)

// Gaps is a histogram of gaps on a fine logarithmic scale, so that a column costs the
// same whether it holds ten gaps or fifty thousand, and can be drawn at any height and
// range later.
type Gaps struct {
	Bins []uint32 // empty until the first gap
	n    int
}

// The scale reaches from 10 µs to 1000 s in bins of 3.7 %. Anything outside counts in
// the first or last bin.
const (
	minGapMS   = 0.01
	logMinGap  = -2 // log10 of minGapMS
	binsDecade = 64
	GapBins    = 8 * binsDecade // over eight decades
)

func (g *Gaps) add(c *measure.Client) {
	if len(c.SliceGaps) > 0 && g.Bins == nil {
		g.Bins = make([]uint32, GapBins)
	}
	for ms, n := range c.EachSliceGap() {
		g.Bins[gapBin(ms)] += uint32(n)
		g.n += n
	}
}

// gapBin is the bin of a gap. A gap of 0 (chunks that share a stamp) and what is not a
// number belong to the first.
func gapBin(ms float64) int {
	if !(ms > minGapMS) {
		return 0
	}
	return int(math.Min((math.Log10(ms)-logMinGap)*binsDecade, GapBins-1))
}

// GapMS is the middle of a bin, in milliseconds.
func GapMS(bin int) float64 {
	return math.Pow(10, logMinGap+(float64(bin)+0.5)/binsDecade)
}

// N is how many gaps there are.
func (g *Gaps) N() int { return g.n }

// Quantile is in milliseconds; unknown without gaps.
func (g *Gaps) Quantile(q float64) (ms float64, known bool) {
	rank := uint64(q * float64(g.n-1))
	var seen uint64
	for bin, n := range g.Bins {
		seen += uint64(n)
		if n > 0 && seen > rank {
			return GapMS(bin), true
		}
	}
	return 0, false
}
