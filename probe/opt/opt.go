// Package opt holds values that may be unknown. Unknown is never zero: on the
// screen it is a dash, in JSON it is null.
package opt

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Float is a number that may be unknown. The zero value is unknown.
type Float struct {
	V  float64
	OK bool
}

// Of wraps a measured number. NaN and infinities are unknown: they never leave
// the program.
func Of(v float64) Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Float{}
	}
	return Float{V: v, OK: true}
}

// Or returns the number, or fallback when it is unknown.
func (f Float) Or(fallback float64) float64 {
	if f.OK {
		return f.V
	}
	return fallback
}

// Scale multiplies a known number; an unknown one stays unknown.
func (f Float) Scale(by float64) Float {
	if !f.OK {
		return f
	}
	return Of(f.V * by)
}

// MarshalJSON writes null for an unknown number, and the 15 digits that a float64 holds of any
// number: further ones are what arithmetic leaves, as in 1756.0000000000002.
func (f Float) MarshalJSON() ([]byte, error) {
	if !f.OK || math.IsNaN(f.V) || math.IsInf(f.V, 0) {
		return []byte("null"), nil
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(f.V, 'e', 14, 64), 64)
	if err != nil {
		v = f.V // rounded up beyond the largest float64
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads null as unknown.
func (f *Float) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Float{}
		return nil
	}
	f.OK = true
	return json.Unmarshal(b, &f.V)
}

// TimeMean is the mean over time of a value that may be unknown, and the largest one
// seen.
type TimeMean struct {
	sum    float64
	weight time.Duration
	max    Float
}

// Add takes a value that held for a while; an unknown one is ignored.
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

// Mean is unknown until a value has held for some time.
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
