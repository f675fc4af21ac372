package level

import (
	"cmp"
	"slices"

	"sonde/probe/frame"
)

// Amount is how much load l is: requests per second in an open loop, streams in a closed
// one.
func Amount(l frame.Load) float64 {
	if l.Rate > 0 {
		return l.Rate
	}
	return float64(l.Concurrency)
}

// Comparable reports whether two loads are points of one curve: they differ in their amount
// only.
func Comparable(a, b frame.Load) bool { return withoutAmount(a) == withoutAmount(b) }

// withoutAmount keeps what makes a load, except how much of it there is; in an open loop
// that is not its cap.
func withoutAmount(l frame.Load) frame.Load {
	if l.Rate > 0 {
		l.Rate = 1
	} else {
		l.Concurrency, l.Poisson = 1, false
	}
	return l
}

// Curve are the levels that can be compared with a load: its lengths, its kind of loop; by
// amount, smallest first.
func Curve(levels []Level, like frame.Load) []Level {
	var out []Level
	for i := range levels {
		if Comparable(levels[i].Load, like) {
			out = append(out, levels[i])
		}
	}
	slices.SortStableFunc(out, func(a, b Level) int { return cmp.Compare(a.Amount(), b.Amount()) })
	return out
}
