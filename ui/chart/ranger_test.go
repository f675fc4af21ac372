package chart

import (
	"math"
	"testing"
)

func wantScale(t *testing.T, got Scale, min, max float64) {
	t.Helper()
	if got.Min != min || got.Max != max {
		t.Errorf("scale %g … %g, want %g … %g", got.Min, got.Max, min, max)
	}
}

func TestRangerGrowsAtOnce(t *testing.T) {
	var r Ranger
	wantScale(t, r.Scale(), 0, 1)
	wantScale(t, r.Scale([]float64{3, nan}, []float64{1}), 0, 5)
	wantScale(t, r.Scale([]float64{inf, 6, -40}), 0, 10)
	wantScale(t, r.Scale([]float64{10}), 0, 10)
	wantScale(t, r.Scale([]float64{10.1}), 0, 20)
	wantScale(t, r.Scale([]float64{nan, -1, 0, inf}), 0, 20)
}

// quiet repeats a call one time less than the Ranger has patience.
func quiet(t *testing.T, r *Ranger, min, max float64, values ...float64) {
	t.Helper()
	for range patience - 1 {
		wantScale(t, r.Scale(values), min, max)
	}
}

func TestRangerShrinksAfterPatience(t *testing.T) {
	var r Ranger
	wantScale(t, r.Scale([]float64{90}), 0, 100)
	quiet(t, &r, 0, 100, 18)
	// The last quiet call shrinks it to what the largest of them needs.
	wantScale(t, r.Scale([]float64{4}), 0, 20)
}

func TestRangerKeepsWhatIsMoreThanHalfFull(t *testing.T) {
	var r Ranger
	r.Scale([]float64{90})
	quiet(t, &r, 0, 100, 51)
	quiet(t, &r, 0, 100, 51)
}

func TestRangerCountsFromTheLastPeak(t *testing.T) {
	var r Ranger
	r.Scale([]float64{90})
	for range 3 {
		quiet(t, &r, 0, 100, 30)
		wantScale(t, r.Scale([]float64{60}), 0, 100)
	}
	quiet(t, &r, 0, 100, 9)
	wantScale(t, r.Scale([]float64{9}), 0, 10)
}

func TestRangerLog(t *testing.T) {
	r := Ranger{Log: true}
	wantScale(t, r.Scale(), 0.1, 1)
	wantScale(t, r.Scale([]float64{3, 70, 0, -1}), 2, 100)
	wantScale(t, r.Scale([]float64{0.3, 150}), 0.2, 200)
	quiet(t, &r, 0.2, 200, 30, 70)
	// Both ends move in; a log scale has at least a decade.
	wantScale(t, r.Scale([]float64{25, 90}), 10, 100)
	// And at most five: an outlier at the low end does not flatten the rest.
	wantScale(t, r.Scale([]float64{1e-9, 90}), 0.001, 100)
	if s := r.Scale([]float64{50}); !s.Log {
		t.Error("scale is not logarithmic")
	}
}

func TestRangerOfExtremes(t *testing.T) {
	for _, v := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, 0, -math.MaxFloat64} {
		for _, log := range []bool{false, true} {
			r := Ranger{Log: log}
			s := r.Scale([]float64{v})
			if !finite(s.Min) || !finite(s.Max) || s.Min >= s.Max || log && s.Min <= 0 {
				t.Errorf("value %g, log %v: %+v", v, log, s)
			}
		}
	}
}
