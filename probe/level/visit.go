package level

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Visit is what one stretch at a load has shown so far, settled or not: what has to be known
// to say whether it was held long enough. Its figures begin anew when it settles.
type Visit struct {
	Load         frame.Load
	Settled      bool
	Held         time.Duration
	OK, Failed   int
	MeanE2E      time.Duration // of the requests that succeeded; 0 without one
	RequestsPerS opt.Float     // by what arrives: see flow
	InFlight     opt.Float     // time-weighted mean
}

// FailsMuch reports whether so many requests fail that the load is too much.
func (v *Visit) FailsMuch() bool {
	c := Counts{OK: v.OK, Failed: v.Failed}
	return c.FailsMuch()
}

// visit is the stretch that goes on.
type visit struct {
	entry   *entry
	number  int
	began   time.Duration
	settled bool
	counts  bool // its figures go into the level

	span     Span
	requests counts
	flow     flow
	e2e      time.Duration // summed
	timed    int
}

func (v *visit) restart(from time.Duration) {
	v.span, v.requests, v.flow = Span{}, counts{}, flow{}
	v.e2e, v.timed = 0, 0
	v.span.Open(from)
}

func (v *visit) request(r *measure.Request) {
	if r.Long || r.Class == measure.Loading || max(r.Start, r.Intent) < v.span.from {
		return
	}
	v.requests.add(r)
	v.flow.count(r)
	if ms, ok := r.E2E(); ok && r.Class == measure.OK && !r.Excluded {
		v.e2e += time.Duration(ms * float64(time.Millisecond))
		v.timed++
	}
}

func (v *visit) frame(f *frame.Frame) {
	v.span.seen = f.At
	v.flow.frame(f, v.span.Held(f), &v.span)
}

func (v *visit) figures() Visit {
	out := Visit{
		Load: v.entry.load, Settled: v.settled, Held: v.span.Length(),
		OK: v.requests.requests.OK, Failed: v.requests.requests.Failed, InFlight: v.flow.inFlight.Mean(),
	}
	if v.timed > 0 {
		out.MeanE2E = v.e2e / time.Duration(v.timed)
	}
	if out.Held > 0 {
		var r Rates
		v.flow.liveRates(&r, v.flow.worth(&v.requests), out.Held.Seconds(), &v.requests)
		out.RequestsPerS = r.RequestsPerS
	}
	return out
}
