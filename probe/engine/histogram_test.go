package engine

import (
	"math"
	"testing"
)

var inf = math.Inf(1)

func TestQuantile(t *testing.T) {
	h := Histogram{Bounds: []float64{0.1, 0.5, 1, inf}, Counts: []float64{80, 120, 190, 200}, Count: 200}
	tests := []struct {
		name     string
		h        Histogram
		q        float64
		v, above float64
		ok       bool
	}{
		{"first bucket starts at 0", h, 0.2, 0.05, 0, true},
		{"inside", h, 0.5, 0.3, 0, true},
		{"on a bound", h, 0.6, 0.5, 0, true},
		{"beyond the last finite bound", h, 0.99, 0, 1, false},
		{"no observations", Histogram{Bounds: []float64{1, inf}, Counts: []float64{0, 0}}, 0.5, 0, 0, false},
		{"unknown", Histogram{}, 0.5, 0, 0, false},
		{"empty buckets before", Histogram{Bounds: []float64{1, 2, 4, inf}, Counts: []float64{0, 0, 10, 10}, Count: 10}, 0.5, 3, 0, true},
		{"a first bound of 0", Histogram{Bounds: []float64{0, 1, inf}, Counts: []float64{5, 10, 10}, Count: 10}, 0.25, 0, 0, true},
		{"only +Inf", Histogram{Bounds: []float64{inf}, Counts: []float64{3}, Count: 3}, 0.5, 0, 0, false},
		{"counts that fall", Histogram{Bounds: []float64{1, 2, 3, inf}, Counts: []float64{6, 5, 10, 10}, Count: 10}, 0.8, 2.5, 0, true},
		{"q below 0", h, -1, 0, 0, true},
		{"q is no number", h, math.NaN(), 0, 0, false},
	}
	for _, tt := range tests {
		v, above, ok := tt.h.Quantile(tt.q)
		if math.Abs(v-tt.v) > 1e-9 || above != tt.above || ok != tt.ok {
			t.Errorf("%s: Quantile(%v) = %v, %v, %v; want %v, %v, %v", tt.name, tt.q, v, above, ok, tt.v, tt.above, tt.ok)
		}
	}
}

func TestSub(t *testing.T) {
	before := Histogram{Bounds: []float64{1, inf}, Counts: []float64{2, 3}, Sum: 4, Count: 3}
	after := Histogram{Bounds: []float64{1, inf}, Counts: []float64{5, 8}, Sum: 14, Count: 8}
	d := after.Sub(before)
	if d.Counts[0] != 3 || d.Counts[1] != 5 || d.Sum != 10 || d.Count != 5 {
		t.Errorf("difference = %+v, want counts 3 and 5, sum 10", d)
	}
	if d.Counts[0] = 99; after.Counts[0] != 5 {
		t.Error("Sub must not share counts with its operand")
	}
	for name, d := range map[string]Histogram{
		"restarted":     before.Sub(after),
		"other buckets": after.Sub(Histogram{Bounds: []float64{2, inf}, Counts: []float64{0, 0}}),
		"nothing yet":   after.Sub(Histogram{}),
		"one fell":      Histogram{Bounds: []float64{1, inf}, Counts: []float64{1, 9}, Count: 9}.Sub(before),
	} {
		if len(d.Bounds) != 0 || d.Count != 0 {
			t.Errorf("%s: %+v, want unknown", name, d)
		}
	}
}
