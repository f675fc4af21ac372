package diagnose

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// longRun is what the load has brought since it was set: the slowest request of a
// hundred may have ended a minute ago.
type longRun struct {
	e2e     *measure.Dist   // ms
	slowest measure.Request // without its gaps
	maxGap  float64         // of the slowest, ms
	outMean float64         // output tokens, mean
	first   uint64          // ID of the first request
}

func (l *longRun) add(f *frame.Frame) {
	const exact = 1 << 12
	if l.e2e == nil {
		l.e2e = measure.NewDist(exact)
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		ms, ok := r.E2E()
		if !ok || !isSuccess(r) {
			continue
		}
		if l.first == 0 || r.ID < l.first {
			l.first = r.ID
		}
		l.e2e.Add(ms)
		n := float64(l.e2e.Summary().N)
		l.outMean += (float64(r.OutTokens) - l.outMean) / n
		if slowest, known := l.slowest.E2E(); !known || ms > slowest {
			l.slowest, l.maxGap = *r, longestGap(r)
			l.slowest.GapsMS = nil
		}
	}
}

func longestGap(r *measure.Request) float64 {
	longest := float32(0)
	for _, g := range r.GapsMS {
		longest = max(longest, g)
	}
	return float64(longest)
}

// ago is how long before now the slowest request ended.
func (l *longRun) ago(now time.Duration) time.Duration { return now - l.slowest.End }
