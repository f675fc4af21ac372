package measure

import "math"

// Moments are the number, mean, deviation and extremes of samples.
type Moments struct {
	N        int
	Min, Max float64

	sum float64
	// The running mean and the squared deviations from it (Welford) stay exact where the sum
	// of squares less the square of the sum would not.
	mean, squares float64
}

// Add counts a sample.
func (m *Moments) Add(x float64) {
	m.extend(1, x, x, x)
	d := x - m.mean
	m.mean += d / float64(m.N)
	m.squares += d * (x - m.mean)
}

// Merge adds all samples of o (Chan et al.).
func (m *Moments) Merge(o *Moments) {
	if o.N == 0 {
		return
	}
	before, d := float64(m.N), o.mean-m.mean
	m.extend(o.N, o.sum, o.Min, o.Max)
	share := float64(o.N) / float64(m.N)
	m.squares += o.squares + d*d*before*share
	m.mean += d * share
}

func (m *Moments) extend(n int, sum, low, high float64) {
	if m.N == 0 {
		m.Min, m.Max = low, high
	}
	m.Min, m.Max = min(m.Min, low), max(m.Max, high)
	m.N += n
	m.sum += sum
}

// Mean is NaN without samples.
func (m *Moments) Mean() float64 { return m.sum / float64(m.N) }

// Std is the standard deviation of the samples themselves: divided by n, as numpy has it, not
// by n − 1.
func (m *Moments) Std() float64 { return math.Sqrt(m.squares / float64(m.N)) }
