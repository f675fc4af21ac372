package sweep

import (
	"math"

	"sonde/probe/level"
)

// Shares of the largest power.
const (
	asGood = 0.95 // loads that may be the knee: what they lack may be scatter
	around = 0.80 // loads that show how the curve bends there
)

// peak is the index of the level at which power is largest. A smooth curve is flat there, and
// the largest of several noisy values lies anywhere on the flat; so it is the level next to the
// top of a parabola through all levels around, in the logarithms of power and load. A sharp knee
// stays where it is: only levels of nearly the largest power are chosen from.
func peak(points []level.Level) int {
	most := 0.0
	for i := range points {
		most = max(most, level.Power(&points[i]))
	}
	var x, y []float64
	for i := range points {
		if p := level.Power(&points[i]); p >= around*most {
			x = append(x, math.Log(level.InFlight(&points[i])))
			y = append(y, math.Log(p/most))
		}
	}
	top, bends := summit(x, y)
	best := -1
	for i := range points {
		p := &points[i]
		if level.Power(p) < asGood*most || !bends && level.Power(p) < most {
			continue
		}
		if best < 0 || math.Abs(math.Log(level.InFlight(p))-top) < math.Abs(math.Log(level.InFlight(&points[best]))-top) {
			best = i
		}
	}
	return best
}

// summit is where the least-squares parabola through the points is highest; not ok if
// there are too few of them or it has no top between them.
func summit(x, y []float64) (top float64, ok bool) {
	if len(x) < 4 {
		return 0, false
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	// Sums of powers of x about its mean, and of those times y: the normal equations.
	var s [5]float64
	var t [3]float64
	for i := range x {
		power := 1.0
		for k := range s {
			s[k] += power
			if k < len(t) {
				t[k] += power * y[i]
			}
			power *= x[i] - mean
		}
	}
	det := func(a, b, c, d, e, f, g, h, i float64) float64 { return a*(e*i-f*h) - b*(d*i-f*g) + c*(d*h-e*g) }
	all := det(s[0], s[1], s[2], s[1], s[2], s[3], s[2], s[3], s[4])
	slope := det(s[0], t[0], s[2], s[1], t[1], s[3], s[2], t[2], s[4]) / all
	bend := det(s[0], s[1], t[0], s[1], s[2], t[1], s[2], s[3], t[2]) / all
	top = mean - slope/(2*bend)
	return top, bend < 0 && top >= x[0] && top <= x[len(x)-1]
}
