package chart

import "math"

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
