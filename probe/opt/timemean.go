package opt

import "time"

// TimeMean is the mean over time of a value that may be unknown, and the largest one
// seen.
type TimeMean struct {
	sum    float64
	weight time.Duration
	max    Float
}

// Add takes a value that held for a while; an unknown one leaves no trace.
func (m *TimeMean) Add(v Float, held time.Duration) {
	if !v.OK || held <= 0 {
		return
	}
	m.sum += v.V * float64(held)
	m.weight += held
	m.max = larger(m.max, v)
}

// Merge adds what o has gathered.
func (m *TimeMean) Merge(o *TimeMean) {
	m.sum += o.sum
	m.weight += o.weight
	m.max = larger(m.max, o.max)
}

// Mean is unknown as long as no value held for any time.
func (m *TimeMean) Mean() Float {
	if m.weight == 0 {
		return Float{}
	}
	return Of(m.sum / float64(m.weight))
}

// Max is the largest value.
func (m *TimeMean) Max() Float { return m.max }

func larger(a, b Float) Float {
	if !a.OK || b.OK && b.V > a.V {
		return b
	}
	return a
}
