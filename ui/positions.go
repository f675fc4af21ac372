package ui

import (
	"math"
	"slices"

	"sonde/probe/frame"
)

// positions is the mean gap by position in the answer, over the requests of the
// present level. It shows whether decoding slows down while an answer, and with
// it the KV cache, grows.
type positions struct {
	level   int
	buckets []mean // positionStep chunks each
	n       int    // requests behind it
}

const (
	positionStep    = 8
	positionBuckets = 512
)

func (p *positions) fold(f *frame.Frame) {
	if f.Load.Level != p.level {
		*p = positions{level: f.Load.Level}
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		if !r.Class.Failed() && !r.Long && !r.Excluded {
			p.add(r.GapsMS)
		}
	}
}

func (p *positions) add(gapsMS []float32) {
	if len(gapsMS) == 0 {
		return
	}
	p.n++
	for i, ms := range gapsMS {
		at := i / positionStep
		if at >= positionBuckets || math.IsNaN(float64(ms)) {
			break
		}
		for len(p.buckets) <= at {
			p.buckets = append(p.buckets, mean{})
		}
		p.buckets[at].sum += float64(ms)
		p.buckets[at].n++
	}
}

// typical is the mean gap of the first positions, 0 without any.
func (p *positions) typical() float64 {
	if len(p.buckets) == 0 || p.buckets[0].n == 0 {
		return 0
	}
	return p.buckets[0].value()
}

func (p positions) clone() positions {
	p.buckets = slices.Clone(p.buckets)
	return p
}
