package sweep

import (
	"math"
	"time"

	"sonde/probe/opt"
)

// binLength is the length of the sub-stretches whose throughput tells the spread.
// It is that of the windows by which a level settles.
const binLength = 2 * time.Second

// bins are tokens in sub-stretches.
type bins struct {
	tokens []float64 // of whole ones
	open   float64
	filled time.Duration
}

func (b *bins) add(tokens int, held time.Duration) {
	b.open += float64(tokens)
	b.filled += held
	if b.filled >= binLength {
		b.tokens = append(b.tokens, b.open/b.filled.Seconds())
		b.open, b.filled = 0, 0
	}
}

func (b *bins) merge(o *bins) { b.tokens = append(b.tokens, o.tokens...) }

// spread gives the lowest and the highest rate, and the standard error of the mean
// by batch means (Law, Simulation Modeling and Analysis, 9.5.3): s/√k of k batches.
func (b *bins) spread() (low, high, standardError opt.Float) {
	n := float64(len(b.tokens))
	if n == 0 {
		return low, high, standardError
	}
	sum, least, most := 0.0, b.tokens[0], b.tokens[0]
	for _, v := range b.tokens {
		sum += v
		least, most = min(least, v), max(most, v)
	}
	low, high = opt.Of(least), opt.Of(most)
	if n < 2 {
		return low, high, standardError
	}
	squares := 0.0
	for _, v := range b.tokens {
		squares += (v - sum/n) * (v - sum/n)
	}
	return low, high, opt.Of(math.Sqrt(squares/(n-1)) / math.Sqrt(n))
}
