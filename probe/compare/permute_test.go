package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Four runs of 1 to 4 against four of 11 to 14: of the C(8,4) = 70 assignments the real one and its
// mirror have the largest |t|, so p = 2/70. Both variances are 5/3, that of a mean 5/12:
// t = 10/√(10/12).
func TestByHand(t *testing.T) {
	s := logSeries{1, 2, 3, 4, 11, 12, 13, 14}
	p := permute([]logSeries{s}, 4, 4)
	d, se, tv := s.welch(p.before)
	if len(p.largest) != 70 || d != 10 || math.Abs(se-math.Sqrt(10.0/12)) > 1e-12 || math.Abs(tv-10/se) > 1e-12 {
		t.Fatalf("%d assignments, d %v, se %v, t %v", len(p.largest), d, se, tv)
	}
	if got := p.p(tv); math.Abs(got-2.0/70) > 1e-12 || p.largest[0] != tv || p.largest[2] >= tv || tv <= p.bound {
		t.Errorf("p %v, largest %v, bound %v", got, p.largest[:4], p.bound)
	}
	// 5 % of 70 are 3: the fourth largest is the bound.
	if p.bound != p.largest[3] {
		t.Errorf("bound %v of %v", p.bound, p.largest[:5])
	}
}

func TestHowManyRunsCanShowADifference(t *testing.T) {
	for _, c := range []struct {
		n, m int
		able bool
	}{
		{1, 1, false}, {3, 3, false}, // 2 of 20 assignments
		{4, 4, true},   // 2 of 70
		{3, 4, true},   // 1 of 35
		{2, 5, true},   // 1 of 21
		{2, 4, false},  // 1 of 15
		{1, 30, false}, // one run has no scatter
		{12, 12, true}, // a sample of 2.7 million
	} {
		s := make(logSeries, c.n+c.m)
		for i := range s {
			s[i] = float64(i)
		}
		if p := permute([]logSeries{s}, c.n, c.m); p.able != c.able {
			t.Errorf("%d + %d: %v", c.n, c.m, p.able)
		}
	}
	if n := runsNeeded(); n != 4 {
		t.Errorf("%d runs needed", n)
	}
}

func TestEveryAssignmentOnce(t *testing.T) {
	seen := map[[5]bool]bool{}
	for before := range assignments(2, 3) {
		n := 0
		for _, yes := range before {
			if yes {
				n++
			}
		}
		if seen[[5]bool(before)] || n != 2 {
			t.Errorf("%v", before)
		}
		seen[[5]bool(before)] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d assignments", len(seen))
	}
}

// drawn are figures over runs: half of their scatter is common to all figures of a run. The first
// few shift.
func drawn(r *rand.Rand, n, figures, shifted int, deviation, shift float64) []logSeries {
	out := make([]logSeries, figures)
	for i := range out {
		out[i] = make(logSeries, 2*n)
	}
	for run := range 2 * n {
		common := r.NormFloat64()
		for i := range out {
			out[i][run] = deviation * (common + r.NormFloat64()) / math.Sqrt2
			if i < shifted && run >= n {
				out[i][run] += shift
			}
		}
	}
	return out
}

// called is how many of the series differ.
func called(all []logSeries, n int) (first bool, any int) {
	p := permute(all, n, n)
	for i, s := range all {
		if _, _, t := s.welch(p.before); t > p.bound*(1+1e-9) {
			any++
			first = first || i == 0
		}
	}
	return first, any
}

// Of 400 comparisons of equal runs with 20 figures 5 % call any difference: 20 ± 4.4, so at most
// 33 by three standard deviations. Five runs on each side find a change of 5 % in a figure that
// scatters by 1 %, also where fifteen others do not change.
func TestErrorsOfBothKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wrong, found := 0, 0
	for range 400 {
		if _, any := called(drawn(r, 5, 20, 0, 0.01, 0), 5); any > 0 {
			wrong++
		}
	}
	for range 100 {
		if first, _ := called(drawn(r, 5, 20, 5, 0.01, math.Log(1.05)), 5); first {
			found++
		}
	}
	if wrong > 33 || found < 95 {
		t.Errorf("%d of 400 equal pairs called, %d of 100 changes found", wrong, found)
	}
}

// A sample of assignments decides as all of them would: it has the real one in it, and is the same
// every time.
func TestSampleIsRepeatable(t *testing.T) {
	all := drawn(rand.New(rand.NewPCG(1, 2)), 12, 3, 1, 0.01, 0.05)
	a, b := permute(all, 12, 12), permute(all, 12, 12)
	_, _, tv := all[0].welch(a.before)
	if a.bound != b.bound || len(a.largest) != exhaustive || a.p(tv) > 0.001 || a.p(tv) == 0 {
		t.Errorf("bounds %v and %v, p %v of %d", a.bound, b.bound, a.p(tv), len(a.largest))
	}
}
