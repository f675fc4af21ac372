package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: 2 4 4 4 5 5 7 9 have the mean 5 and squared deviations of 32 in all:
// √(32/8) = 2, as numpy's std has it.
func TestStandardDeviation(t *testing.T) {
	d := NewDist(100)
	if s := d.Summary(); s != (Summary{}) {
		t.Error("nothing has a deviation")
	}
	for _, v := range []float64{2, 4, 4, 4, 5, 5, 7, 9} {
		d.Add(v)
	}
	if std := d.Summary().Std; math.Abs(std-2) > 1e-12 {
		t.Errorf("%v", std)
	}
	d.Reset()
	d.Add(7)
	if s := d.Summary(); s.N != 1 || s.Std != 0 {
		t.Errorf("of one sample: %+v", s)
	}
}

// Whether samples stay exact, spill into a histogram or come from several Dists,
// the deviation is that of two passes over all of them.
func TestDeviationOfMergedAndSpilledSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var all []float64
		whole := NewDist(10)
		for range 1 + r.IntN(4) {
			part := NewDist(r.IntN(30))
			for range r.IntN(40) {
				v := 1e6 + 10*r.ExpFloat64() // far from 0: squares would cancel out
				part.Add(v)
				all = append(all, v)
			}
			whole.Merge(part)
		}
		got := whole.Summary()
		if got.N != len(all) {
			t.Fatalf("%d samples, want %d", got.N, len(all))
		}
		mean, sum := 0.0, 0.0
		for _, v := range all {
			mean += v / float64(len(all))
		}
		for _, v := range all {
			sum += (v - mean) * (v - mean)
		}
		if want := math.Sqrt(sum / float64(len(all))); len(all) > 0 && math.Abs(got.Std-want) > 1e-6*want+1e-9 {
			t.Fatalf("%v, want %v of %d samples", got.Std, want, len(all))
		}
	}
}
