package diagnose

import (
	"time"

	"sonde/probe/measure"
)

// atThisLoad are the successes of the history that belong to the present load
// alone, and their distributions in ms.
type atThisLoad struct {
	requests        []*measure.Request // in the order in which they ended
	ttft, tpot, e2e measure.Summary
}

// burst is how long after a change of load requests begin all together: what
// they wait for each other is not the load's doing.
const burst = time.Second

// atLoad gives the requests that began and ended under the present load.
func (h *history) atLoad() *atThisLoad {
	if h.shape != nil {
		return h.shape // several rules ask at each Frame
	}
	const exact = 1 << 14
	s := &atThisLoad{}
	ttft, tpot, e2e := measure.NewDist(exact), measure.NewDist(exact), measure.NewDist(exact)
	level := h.now().Load.Level
	for _, q := range h.ended() {
		if !isSuccess(q.Request) || q.Level != level || q.Start < h.since+burst {
			continue
		}
		s.requests = append(s.requests, q.Request)
		addTo(ttft, q.TTFT)
		addTo(tpot, q.TPOT)
		addTo(e2e, q.E2E)
	}
	s.ttft, s.tpot, s.e2e = ttft.Summary(), tpot.Summary(), e2e.Summary()
	h.shape = s
	return s
}

func addTo(d *measure.Dist, figure func() (float64, bool)) {
	if ms, ok := figure(); ok {
		d.Add(ms)
	}
}

// isSuccess tells that a request counts in latency figures.
func isSuccess(r *measure.Request) bool {
	return r.Class == measure.OK && !r.Excluded && !r.Long
}

// lately is a figure of the newest requests at this load, as few as will do, so that
// a server that got slower is not judged by what it was.
func (h *history) lately(figure func(*measure.Request) (ms float64, ok bool)) measure.Summary {
	const span, exact = 10 * time.Second, 1 << 12
	d := measure.NewDist(exact)
	now := h.now()
	for i := len(h.frames) - 1; i >= 0 && (d.N() < enough || now.At-h.frames[i].At < span); i-- {
		for k := range h.frames[i].Requests {
			r := &h.frames[i].Requests[k]
			if !isSuccess(r) || r.Level != now.Load.Level || r.Start < h.since+burst {
				continue
			}
			if ms, ok := figure(r); ok {
				d.Add(ms)
			}
		}
	}
	return d.Summary()
}

// ofThisLoad gives TTFT and TPOT as the live window has them, in ms; without the requests
// that began under another load, if the window still reaches back to one.
func (h *history) ofThisLoad() (ttft, tpot measure.Summary) {
	const exact = 1 << 14
	f := h.now()
	if f.At-h.since >= f.Client.Window {
		return f.Client.TTFT, f.Client.TPOT
	}
	ttfts, tpots := measure.NewDist(exact), measure.NewDist(exact)
	h.successes(func(r *measure.Request) {
		if r.Level == f.Load.Level {
			addTo(ttfts, r.TTFT)
			addTo(tpots, r.TPOT)
		}
	})
	return ttfts.Summary(), tpots.Summary()
}
