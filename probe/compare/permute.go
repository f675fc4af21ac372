package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// alpha is how often a comparison of equal runs may call any difference.
const alpha = 0.05

// Runs are the unit: requests of one run share a server, its cache and its neighbours, so that
// their number says nothing about how much the next run will differ.
//
// What is called a difference is decided by a permutation test over runs (Westfall and Young,
// Resampling-Based Multiple Testing, 1993, single-step max-T). If both sides are the same, any
// assignment of the runs to two sides of these sizes was as likely as the real one. Each
// assignment gives each figure Welch's t; the largest |t| of an assignment shows what chance
// does to the most striking of all figures. A figure differs if its own |t| is beyond what all
// but 5 % of the assignments have as their largest. So 5 % is the chance of any false call among
// them, however many they are and however they depend on each other, and no distribution is
// assumed. A rank test of each figure (Mann and Whitney) could not do that: with five runs on
// each side its p-value is 0.008 at best, and twenty figures need 0.0025. The same bound gives
// intervals for all changes that hold together with 95 %, and exclude "no change" exactly where a
// difference is called.
//
// The more figures, the larger a change has to be. So the few headline figures are judged first,
// on their own, and the others only if one of those differs: equal runs are still called
// different in 5 % of comparisons.
type permutation struct {
	before  []bool      // by run: the real assignment
	largest []float64   // |t| of each assignment, in falling order
	bound   float64     // |t| beyond it is a difference
	able    bool        // runs enough to call any
	series  []logSeries // those that are tested
}

// logSeries is a figure over all runs, those of before first: logarithms if changes are ratios,
// and NaN in runs that do not have it.
type logSeries []float64

// exhaustive bounds the assignments that are all tried; of more than that a sample is drawn.
const exhaustive = 20_000

// permute tests some series. n runs are of before.
func permute(series []logSeries, n, m int) *permutation {
	p := &permutation{before: make([]bool, n+m)}
	for i := range n {
		p.before[i] = true
	}
	for _, s := range series {
		if !s.constant() {
			p.series = append(p.series, s)
		}
	}
	p.able = n >= 2 && m >= 2 && fewestShare(n, m) <= alpha
	if !p.able || len(p.series) == 0 {
		return p
	}
	for before := range assignments(n, m) {
		most := 0.0
		for _, s := range p.series {
			_, _, t := s.welch(before)
			most = max(most, t)
		}
		p.largest = append(p.largest, most)
	}
	slices.SortFunc(p.largest, func(a, b float64) int { return cmp.Compare(b, a) })
	p.bound = p.largest[int(alpha*float64(len(p.largest))+1e-9)]
	return p
}

// constant reports whether the series is the same in every run, but for rounding.
func (s logSeries) constant() bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range s {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return high-low <= 1e-9
}

// welch is the difference of the means of an assignment, its standard error and |t|, which is 0
// where too few runs have the figure.
func (s logSeries) welch(before []bool) (d, se, t float64) {
	var a, b moments
	for i, v := range s {
		switch {
		case math.IsNaN(v):
		case before[i]:
			a.add(v)
		default:
			b.add(v)
		}
	}
	if a.n < 2 || b.n < 2 {
		return 0, 0, 0
	}
	d, se = b.mean-a.mean, math.Sqrt(a.ofMean()+b.ofMean())
	return d, se, math.Abs(d) / max(se, 1e-9)
}

// moments are the mean and the squared deviations from it (Welford).
type moments struct{ n, mean, squares float64 }

func (m *moments) add(v float64) {
	m.n++
	d := v - m.mean
	m.mean += d / m.n
	m.squares += d * (v - m.mean)
}

// ofMean is the variance of the mean.
func (m *moments) ofMean() float64 { return m.squares / (m.n - 1) / m.n }

// deviation is the standard deviation of the runs.
func (m *moments) deviation() float64 { return math.Sqrt(m.squares / (m.n - 1)) }

// p is the share of assignments whose largest |t| is at least as large.
func (p *permutation) p(t float64) float64 {
	n := 0
	for n < len(p.largest) && p.largest[n] >= t*(1-1e-9) {
		n++
	}
	return float64(n) / float64(len(p.largest))
}

// fewestShare is the least p-value that so many runs can have.
func fewestShare(n, m int) float64 {
	share := 1 / combinations(n+m, n)
	if n == m {
		share *= 2 // with the sides swapped |t| is the same
	}
	return share
}

// runsNeeded is how many runs on each side can show a difference.
func runsNeeded() int {
	n := 2
	for fewestShare(n, n) > alpha {
		n++
	}
	return n
}

func combinations(n, k int) float64 {
	out := 1.0
	for i := range k {
		out *= float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}

// assignments are all ways to choose n of n+m runs, or a large sample of them with the real one.
func assignments(n, m int) func(yield func([]bool) bool) {
	return func(yield func([]bool) bool) {
		before := make([]bool, n+m)
		if combinations(n+m, n) > exhaustive {
			sample(before, n, yield)
			return
		}
		choose(before, 0, n, yield)
	}
}

// choose goes through the ways to mark so many of the runs from one on.
func choose(before []bool, from, left int, yield func([]bool) bool) bool {
	switch {
	case left > len(before)-from:
		return true
	case from == len(before):
		return yield(before)
	}
	before[from] = true
	if left > 0 && !choose(before, from+1, left-1, yield) {
		return false
	}
	before[from] = false
	return choose(before, from+1, left, yield)
}

// sample draws assignments, always the same ones: a comparison of the same files says the same.
func sample(before []bool, n int, yield func([]bool) bool) {
	for i := range n {
		before[i] = true
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range exhaustive {
		if !yield(before) {
			return
		}
		r.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
	}
}
