package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// Five samples: p99 lies at position 0.99·4 = 3.96 between 40 and 1000.
func TestLinearInterpolation(t *testing.T) {
	d := NewDist(100)
	for _, ms := range []float64{1000, 10, 30, 20, 40} {
		d.Add(ms)
	}
	s := d.Summary()
	if s.N != 5 || s.P50 != 30 || !near(s.P99, 961.6, 1e-9) || s.Mean != 220 || s.Min != 10 || s.Max != 1000 {
		t.Errorf("%+v", s)
	}
	if weak := s.Weak(); !slices.Equal(weak, []string{"p90", "p95", "p99", "p999"}) {
		t.Errorf("weak %v", weak)
	}
}

// The mean of the groups' p95s would be 1005.
func TestMergedPercentilesAreNoAverages(t *testing.T) {
	for _, exact := range []int{10_000, 100} {
		a, b := NewDist(exact), NewDist(exact)
		for range 1000 {
			a.Add(10)
		}
		for range 10 {
			b.Add(2000)
		}
		a.Merge(b)
		if s := a.Summary(); s.N != 1010 || !near(s.P95, 10, 0.1) || s.Max != 2000 {
			t.Errorf("exact up to %d: %+v", exact, s)
		}
	}
}

// 99 requests of 1 s and one of 101 s.
func TestTailIsSeen(t *testing.T) {
	d := NewDist(1000)
	for range 99 {
		d.Add(1000)
	}
	d.Add(101_000)
	s := d.Summary()
	if s.Mean != 2000 || s.P50 != 1000 || s.Max != 101_000 || !near(s.P99, 2000, 1e-6) {
		t.Errorf("%+v: p99 lies 1 %% of the way from 1 s to 101 s", s)
	}
}

func TestHistogramIsWithinOnePercent(t *testing.T) {
	f := func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 1))
		exact, hist := NewDist(1<<20), NewDist(10)
		for range 3000 {
			ms := math.Exp(r.NormFloat64()*2 + 3)
			exact.Add(ms)
			hist.Add(ms)
		}
		e, h := exact.Summary(), hist.Summary()
		for _, q := range [][2]float64{{e.P50, h.P50}, {e.P90, h.P90}, {e.P95, h.P95}, {e.P99, h.P99}} {
			if !near(q[0], q[1], 0.01*q[0]+0.002) {
				return false
			}
		}
		return near(e.Mean, h.Mean, 1e-6*e.Mean) && e.Max == h.Max && e.Min == h.Min
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

func TestSenselessSamplesAreDropped(t *testing.T) {
	d := NewDist(10)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		d.Add(v)
	}
	if d.N() != 0 {
		t.Errorf("%d samples", d.N())
	}
	if _, ok := d.Quantile(0.5); ok {
		t.Error("a quantile of nothing")
	}
}

// What was compacted goes on as if it had not been, within 0.1 % and the microsecond; few samples
// stay exact.
func TestCompact(t *testing.T) {
	for _, n := range []int{100, 5000, 30_000} {
		d, plain := NewDist(20_000), NewDist(100_000)
		for i := range 2 * n {
			if i == n {
				d.Compact()
				d.Compact() // twice is once
			}
			ms := math.Exp(8 * float64(i*7919%n) / float64(n))
			d.Add(ms)
			plain.Add(ms)
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			got, _ := d.Quantile(q)
			want, _ := plain.Quantile(q)
			if d.N() != 2*n || math.Abs(got-want) > 0.001*want+0.001 || n == 100 && got != want {
				t.Errorf("%d samples, q %v: %v, want %v", n, q, got, want)
			}
		}
	}
}
