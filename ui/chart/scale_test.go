package chart

import (
	"math"
	"slices"
	"testing"
)

func equal(a, b []float64) bool { return slices.Equal(a, b) }

func TestSlot(t *testing.T) {
	for _, c := range []struct {
		scale Scale
		v     float64
		n     int
		want  int
	}{
		{Scale{Max: 10}, 0, 5, 0},
		{Scale{Max: 10}, 1.99, 5, 0},
		{Scale{Max: 10}, 2, 5, 1},
		{Scale{Max: 10}, 10, 5, 4},
		{Scale{Max: 10}, 1e308, 5, 4},
		{Scale{Max: 10}, -1, 5, 0},
		{Scale{Max: 10}, inf, 5, 4},
		{Scale{Max: 10}, -inf, 5, 0},
		{Scale{Max: 10}, nan, 5, -1},
		{Scale{Min: 1, Max: 1e6, Log: true}, 1000, 6, 3},
		{Scale{Min: 1, Max: 1e6, Log: true}, 999, 6, 2},
		{Scale{Min: 1, Max: 1e6, Log: true}, 0, 6, 0},
		{Scale{Min: 1, Max: 1e6, Log: true}, nan, 6, -1},
		{Scale{Min: 1e300, Max: math.Nextafter(1e300, inf), Log: true}, 1e300, 6, 0}, // one logarithm
	} {
		r := c.scale.ruler()
		if got := r.slot(c.v, c.n); got != c.want {
			t.Errorf("%g on %+v: part %d of %d, want %d", c.v, c.scale, got, c.n, c.want)
		}
	}
}

func TestSenselessScales(t *testing.T) {
	for _, c := range []struct{ in, want Scale }{
		{Scale{}, Scale{Min: 0, Max: 1}},
		{Scale{Min: 5, Max: 6}, Scale{Min: 5, Max: 6}},
		{Scale{Min: 5, Max: -5}, Scale{Min: 0, Max: 1}},
		{Scale{Min: nan, Max: 7}, Scale{Min: 0, Max: 1}},
		{Scale{Min: 0, Max: inf}, Scale{Min: 0, Max: 1}},
		{Scale{Min: -math.MaxFloat64, Max: math.MaxFloat64}, Scale{Min: 0, Max: 1}},
		{Scale{Min: 0, Max: 5, Log: true}, Scale{Min: 0.001, Max: 1, Log: true}},
		{Scale{Min: 2, Max: 5, Log: true}, Scale{Min: 2, Max: 5, Log: true}},
	} {
		if got := c.in.sane(); got != c.want {
			t.Errorf("%+v became %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct{ v, up, down float64 }{
		{1, 1, 1}, {1.01, 2, 1}, {2, 2, 2}, {3, 5, 2}, {7, 10, 5}, {0.3, 0.5, 0.2},
		{0.0005, 0.0005, 0.0005}, {99, 100, 50}, {1e21, 1e21, 1e21}, {6e-7, 1e-6, 5e-7},
		{5e-324, 1e-300, 1e-300}, {math.MaxFloat64, 5e307, 5e307},
	} {
		if up, down := stepUp(c.v).value(), stepDown(c.v).value(); up != c.up || down != c.down {
			t.Errorf("%g lies between %g and %g, want %g and %g", c.v, down, up, c.down, c.up)
		}
	}
}
