package diagnose

import (
	"cmp"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// exactSamples is how many samples of a distribution stay exact.
const exactSamples = 1 << 14

// endedRequest is a request of the history, with the end of its slice.
type endedRequest struct {
	*measure.Request
	at time.Duration
}

// succeeded reports whether a request counts in latency figures.
func succeeded(r *measure.Request) bool {
	return r.Class == measure.OK && !r.Excluded && !r.Long
}

// successes are the requests that count in latency figures, in the order in which
// they ended.
func (h *history) successes() (out []*measure.Request) {
	for _, e := range h.ended {
		if succeeded(e.Request) {
			out = append(out, e.Request)
		}
	}
	return out
}

// presentLoad are the successes of the history that belong to the present load
// alone, and their distributions in ms.
type presentLoad struct {
	requests        []*measure.Request // in the order in which they ended
	ttft, tpot, e2e measure.Summary
}

func (h *history) findPresent() (p presentLoad) {
	p.requests = slices.DeleteFunc(h.successes(), func(r *measure.Request) bool { return !h.ofThisLoad(r) })
	p.ttft = summaryOf(p.requests, (*measure.Request).TTFT)
	p.tpot = summaryOf(p.requests, (*measure.Request).TPOT)
	p.e2e = summaryOf(p.requests, (*measure.Request).E2E)
	return p
}

// ofThisLoad reports whether a request began and ended under the present load.
// Those that begin together after a change wait for each other, which is not the
// load's doing.
func (h *history) ofThisLoad(r *measure.Request) bool {
	return succeeded(r) && r.Level == h.now().Load.Level && r.Start >= max(h.since+burst, h.clean)
}

// figure is a latency of a request.
type figure func(*measure.Request) (ms float64, ok bool)

func distOf(requests []*measure.Request, f figure) *measure.Dist {
	d := measure.NewDist(exactSamples)
	for _, r := range requests {
		if ms, ok := f(r); ok {
			d.Add(ms)
		}
	}
	return d
}

func summaryOf(requests []*measure.Request, f figure) measure.Summary {
	return distOf(requests, f).Summary()
}

// lately is a figure of the newest requests at this load, as few as will do, so that
// a server that got slower is not judged by what it was.
func (h *history) lately(f figure) measure.Summary {
	d := measure.NewDist(exactSamples)
	now := h.now()
	for i := len(h.frames) - 1; i >= 0 && (d.N() < enough || now.At-h.frames[i].At < latelySpan); i-- {
		for k := range h.frames[i].Requests {
			if r := &h.frames[i].Requests[k]; h.ofThisLoad(r) {
				if ms, ok := f(r); ok {
					d.Add(ms)
				}
			}
		}
	}
	return d.Summary()
}

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
	if l.e2e == nil {
		l.e2e = measure.NewDist(exactSamples)
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		ms, ok := r.E2E()
		if !ok || !succeeded(r) {
			continue
		}
		if l.first == 0 || r.ID < l.first {
			l.first = r.ID
		}
		l.e2e.Add(ms)
		l.outMean += (float64(r.OutTokens) - l.outMean) / float64(l.e2e.N())
		if slowest, known := l.slowest.E2E(); !known || ms > slowest {
			l.slowest, l.maxGap = *r, longestGap(r)
			l.slowest.GapsMS, l.slowest.LaterGapsMS, l.slowest.LaterGapCounts = nil, nil, nil
		}
	}
}

func longestGap(r *measure.Request) float64 {
	longest := 0.0
	for ms := range r.EachGap() {
		longest = max(longest, ms)
	}
	return longest
}

// best remembers how quick the server was at the present load, by medians of some
// ten seconds.
type best struct {
	tpot, ttft float64 // ms; 0: not known
	looked     time.Duration
}

func (b *best) add(h *history) {
	const every = 5 * time.Second // each costs a walk over the newest requests
	if h.now().At-b.looked < every {
		return
	}
	b.looked = h.now().At
	lower(&b.tpot, h.lately((*measure.Request).TPOT))
	lower(&b.ttft, h.lately((*measure.Request).TTFT))
}

func lower(best *float64, s measure.Summary) {
	if s.N >= enough && (*best == 0 || s.P50 < *best) {
		*best = s.P50
	}
}

// median of some values; 0 of none. That of gaps is not changed by a stall or a prompt
// in between.
func median[T cmp.Ordered](values []T) (m T) {
	if len(values) == 0 {
		return m
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// middle is the median of a figure over requests; 0 of none.
func middle(requests []*measure.Request, figure func(*measure.Request) float64) float64 {
	values := make([]float64, len(requests))
	for i, q := range requests {
		values[i] = figure(q)
	}
	return median(values)
}
