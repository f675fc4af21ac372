package measure

import "math"

// spread keeps the mean and the sum of squared deviations from it as samples come
// (Welford), which stays exact where the sum of squares less the square of the sum
// would not.
type spread struct {
	n        int
	mean, m2 float64
}

func (s *spread) add(x float64) {
	s.n++
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.m2 += d * (x - s.mean)
}

// merge adds all samples of o (Chan et al.).
func (s *spread) merge(o spread) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	n := s.n + o.n
	d := o.mean - s.mean
	s.m2 += o.m2 + d*d*float64(s.n)*float64(o.n)/float64(n)
	s.mean += d * float64(o.n) / float64(n)
	s.n = n
}

// std is the standard deviation of the samples themselves: divided by n, as numpy
// has it, not by n − 1.
func (s *spread) std() float64 { return math.Sqrt(s.m2 / float64(s.n)) }
