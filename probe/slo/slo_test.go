package slo

import (
	"math"
	"testing"

	"sonde/probe/opt"
)

// By hand: of 3 tosses at 1/2 at most one head: (1 + 3)/8. Of 59 at 5 % none: 0.95⁵⁹.
func TestBinomial(t *testing.T) {
	for _, c := range []struct {
		k, n    int
		p, want float64
	}{{1, 3, 0.5, 0.5}, {3, 3, 0.5, 1}, {-1, 3, 0.5, 0}, {0, 59, 0.05, math.Pow(0.95, 59)}, {0, 10, 0, 1}, {4, 5, 1, 0}, {1, 2, 0.25, 0.9375}} {
		if got := binomialAtMost(c.k, c.n, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("P(X ≤ %d) of %d at %v is %v, want %v", c.k, c.n, c.p, got, c.want)
		}
	}
	// Far beyond what factorials can hold; half the chance is below the mean.
	if got := binomialAtMost(50_000, 1_000_000, 0.05); math.Abs(got-0.5) > 0.002 {
		t.Errorf("at the mean of a million: %v", got)
	}
}

// 59 samples without one beyond the limit are the fewest that prove a p95 with 95 %: 0.95⁵⁹ =
// 0.0485, 0.95⁵⁸ = 0.0510. For a p99 it is 299. One of 93 allows the same: 93·0.05·0.95⁹² +
// 0.95⁹³ = 0.0500.
func TestHowManySamplesAPercentileTakes(t *testing.T) {
	for _, c := range []struct {
		over, n int
		allowed float64
		want    Verdict
	}{
		{0, 58, 0.05, SeemsMeets}, {0, 59, 0.05, Meets}, {0, 298, 0.01, SeemsMeets}, {0, 299, 0.01, Meets},
		{1, 92, 0.05, SeemsMeets}, {1, 93, 0.05, Meets},
		{1, 10, 0.05, SeemsFails},                 // 1 − 0.95¹⁰ = 0.40 of services that meet it show so much
		{3, 10, 0.05, Fails},                      // P(≥ 3 of 10 at 5 %) = 0.0115
		{2, 40, 0.05, SeemsMeets},                 // just as many as allowed
		{0, 0, 0.05, NotJudged}, {1, 9, 0, Fails}, // success=100: one failure is one too many
		{0, 10_000, 0, SeemsMeets}, {0, 1, 1, Meets}, // … and no sample proves that none will be
	} {
		if got := Judge(Target{Quantile: 1 - c.allowed}, opt.Float{}, c.over, c.n).Verdict; got != c.want {
			t.Errorf("%d of %d beyond, %v allowed: %v, want %v", c.over, c.n, c.allowed, got, c.want)
		}
	}
	for quantile, want := range map[float64]int{0.95: 59, 0.99: 299, 0.5: 5} {
		if got := (&Target{Quantile: quantile}).Enough(); got != want {
			t.Errorf("p%v takes %d, want %d", 100*quantile, got, want)
		}
	}
}

func TestAllLevelsHaveToBeMet(t *testing.T) {
	of := func(list ...Verdict) (out []Result) {
		for _, v := range list {
			out = append(out, Result{Verdict: v})
		}
		return out
	}
	for _, c := range []struct {
		all  []Result
		want Verdict
	}{{of(Meets, Meets), Meets}, {of(Meets, SeemsMeets), SeemsMeets}, {of(Meets, Fails, SeemsFails), Fails}, {of(Meets, NotJudged), NotJudged}, {nil, NotJudged}} {
		if got := Together(c.all); got != c.want {
			t.Errorf("%v: %v, want %v", c.all, got, c.want)
		}
	}
}
