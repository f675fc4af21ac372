package headless

import (
	"time"

	"sonde/probe/opt"
)

// weighted is a mean over time, and the largest value seen.
type weighted struct {
	sum    float64
	weight time.Duration
	max    opt.Float
}

// add takes a value that held for a while; an unknown one leaves no trace.
func (m *weighted) add(v opt.Float, held time.Duration) {
	if !v.OK || held <= 0 {
		return
	}
	m.sum += v.V * float64(held)
	m.weight += held
	m.peak(v)
}

func (m *weighted) peak(v opt.Float) {
	if v.OK && (!m.max.OK || v.V > m.max.V) {
		m.max = v
	}
}

func (m *weighted) mean() opt.Float {
	if m.weight == 0 {
		return opt.Float{}
	}
	return opt.Of(m.sum / float64(m.weight))
}
