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

// succeeded reports whether a request counts in latency figures.
func succeeded(r *measure.Request) bool {
	return r.Class == measure.OK && !r.Excluded && !r.Long
}

// endedRequest is a request of the history, with the end of its slice.
type endedRequest struct {
	*measure.Request
	at time.Duration
}

// ended returns the requests that had a result of the server's making, in the order
// in which they ended.
func (h *history) ended() []endedRequest {
	if len(h.inOrder) > 0 {
		return h.inOrder // several rules ask at each Frame
	}
	for _, f := range h.frames {
		first := len(h.inOrder)
		for i := range f.Requests {
			if r := &f.Requests[i]; !r.Long && r.Class != measure.Cancelled && r.Class != measure.Loading {
				h.inOrder = append(h.inOrder, endedRequest{r, f.At})
			}
		}
		slices.SortStableFunc(h.inOrder[first:], func(a, b endedRequest) int { return cmp.Compare(a.End, b.End) })
	}
	return h.inOrder
}

// successes calls f for the requests that count in latency figures.
func (h *history) successes(f func(*measure.Request)) {
	for _, e := range h.ended() {
		if succeeded(e.Request) {
			f(e.Request)
		}
	}
}

// newest returns up to n successful requests, newest Frame first.
func (h *history) newest(n int) []*measure.Request {
	var out []*measure.Request
	for i := len(h.frames) - 1; i >= 0; i-- {
		for k := range h.frames[i].Requests {
			if len(out) == n {
				return out
			}
			if r := &h.frames[i].Requests[k]; succeeded(r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// atThisLoad are the successes of the history that belong to the present load
// alone, and their distributions in ms.
type atThisLoad struct {
	requests        []*measure.Request // in the order in which they ended
	ttft, tpot, e2e measure.Summary
}

// ofThisLoad reports whether a request began and ended under the present load.
// Those that begin together after a change wait for each other, which is not the
// load's doing.
func (h *history) ofThisLoad(r *measure.Request) bool {
	return succeeded(r) && r.Level == h.now().Load.Level && r.Start >= h.since+burst
}

// atLoad returns the requests that began and ended under the present load.
func (h *history) atLoad() *atThisLoad {
	if h.shape != nil {
		return h.shape // several rules ask at each Frame
	}
	s := &atThisLoad{}
	for _, q := range h.ended() {
		if h.ofThisLoad(q.Request) {
			s.requests = append(s.requests, q.Request)
		}
	}
	s.ttft = summaryOf(s.requests, (*measure.Request).TTFT)
	s.tpot = summaryOf(s.requests, (*measure.Request).TPOT)
	s.e2e = summaryOf(s.requests, (*measure.Request).E2E)
	h.shape = s
	return s
}

// figure is a latency of a request.
type figure func(*measure.Request) (ms float64, ok bool)

func summaryOf(requests []*measure.Request, f figure) measure.Summary {
	d := measure.NewDist(exactSamples)
	for _, r := range requests {
		if ms, ok := f(r); ok {
			d.Add(ms)
		}
	}
	return d.Summary()
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

// live returns TTFT and TPOT as the live window has them, in ms; without the requests
// that began under another load, if the window still reaches back to one.
func (h *history) live() (ttft, tpot measure.Summary) {
	f := h.now()
	if f.At-h.since >= f.Client.Window {
		return f.Client.TTFT, f.Client.TPOT
	}
	var own []*measure.Request
	h.successes(func(r *measure.Request) {
		if r.Level == f.Load.Level {
			own = append(own, r)
		}
	})
	return summaryOf(own, (*measure.Request).TTFT), summaryOf(own, (*measure.Request).TPOT)
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

// medianGap is the median gap of an answer or a part of it: a stall or a prompt in
// between does not change it.
func medianGap(gaps []float32) float64 {
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	return float64(sorted[len(sorted)/2])
}

// middle is the median of a figure over requests; 0 of none.
func middle(requests []*measure.Request, figure func(*measure.Request) float64) float64 {
	if len(requests) == 0 {
		return 0
	}
	values := make([]float64, len(requests))
	for i, q := range requests {
		values[i] = figure(q)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
