package chart

import "math"

// Scale maps values to height: Min lies on the bottom edge, Max on the top edge. With Log
// both must be above 0.
type Scale struct {
	Min, Max float64
	Log      bool
}

// sane returns s, or a usable scale where s makes no sense (not finite, empty or reversed,
// a logarithm of 0).
func (s Scale) sane() Scale {
	switch {
	case s.Min < s.Max && finite(s.Max-s.Min) && (!s.Log || s.Min > 0):
		return s
	case s.Log:
		return Scale{Min: 0.001, Max: 1, Log: true}
	}
	return Scale{Min: 0, Max: 1}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ruler is a sane Scale made ready for many values.
type ruler struct {
	scale     Scale
	low, span float64 // in logarithms when the scale is logarithmic
}

func (s Scale) ruler() ruler {
	s = s.sane()
	r := ruler{scale: s}
	r.low = r.measure(s.Min)
	r.span = r.measure(s.Max) - r.low
	if !(r.span > 0) { // neighbouring floats can have the same logarithm
		r.span = 1
	}
	return r
}

// measure returns the length of v from the ruler's origin. A value without a
// logarithm (0 and below) is as low as can be.
func (r *ruler) measure(v float64) float64 {
	if !r.scale.Log {
		return v
	}
	if v <= 0 {
		return math.Inf(-1)
	}
	return math.Log(v)
}

// slot returns which of n equal parts of the scale v lies in: 0 is the lowest. Values
// beyond the scale are in the first or last part. The result is −1 for NaN.
func (r *ruler) slot(v float64, n int) int {
	share := (r.measure(v) - r.low) / r.span
	if math.IsNaN(share) {
		return -1
	}
	// The small addition keeps a bound such as 10 on a scale of 1 to 100 out of the
	// part below it when its logarithm is rounded down.
	return min(int(min(max(share, 0), 1)*float64(n)+1e-9), n-1)
}

// above reports whether v lies beyond the top of the scale.
func (r *ruler) above(v float64) bool { return v > r.scale.Max }

// A step is an index into the row …, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, …: step 0 is 1,
// every third step is a decade.
type step int

const (
	decade   step = 3
	lastStep step = 3*307 + 2 // 5e307
	leastOne step = -3 * 300  // 1e-300
)

// parts returns the number at s as mantissa × 10^exponent.
func (s step) parts() (mantissa float64, exponent int) {
	place := s % decade
	if place < 0 {
		place += decade
	}
	return [decade]float64{1, 2, 5}[place], int((s - place) / decade)
}

// value returns the number at s, correctly rounded, so that it prints well.
func (s step) value() float64 {
	mantissa, exponent := s.parts()
	if exponent < 0 {
		return mantissa / math.Pow10(-exponent)
	}
	return mantissa * math.Pow10(exponent)
}

// stepUp returns the smallest step whose value is at least v, which must be above 0.
func stepUp(v float64) step {
	exponent := math.Floor(math.Log10(v))
	s := max(decade*step(exponent-1), leastOne)
	for s < lastStep && s.value() < v {
		s++
	}
	return s
}

// stepDown returns the largest step whose value is at most v, which must be above 0.
func stepDown(v float64) step {
	s := stepUp(v)
	if s > leastOne && s.value() > v {
		s--
	}
	return s
}
