package diagnose

import (
	"fmt"

	"sonde/probe/measure"
)

// enough is how many finished requests a judgement of health needs.
const enough = 10

// nothingYet gives the verdict as long as there is nothing to judge.
func nothingYet(h *history) (Verdict, bool) {
	if len(h.frames) == 0 {
		return Verdict{Rule: "no_data", Says: "nothing has been seen yet"}, true
	}
	f := h.now()
	ended := 0
	loading := 0
	for _, frame := range h.frames {
		for i := range frame.Requests {
			if frame.Requests[i].Class == measure.Loading {
				loading++
			} else {
				ended++
			}
		}
	}
	idle := f.Load.Asked.Concurrency == 0 && f.Load.Asked.Rate == 0 && f.Client.InFlight == 0
	switch {
	case loading > 0 && ended == 0:
		return Verdict{
			Rule: "loading", Level: Note, Says: "the server is still loading its model",
			Evidence: []string{fmt.Sprintf("%d requests were refused as too early in the last %.0f s", loading, h.seconds())},
			Advice:   "wait: measuring starts with the first success",
		}, true
	case idle && ended == 0:
		return Verdict{Rule: "no_load", Says: "no load yet", Advice: "raise the concurrency"}, true
	}
	return Verdict{}, false
}

// wellbeing is the verdict when no rule finds fault: healthy if there is enough
// to say so.
func wellbeing(h *history) Verdict {
	ok, failed := 0, 0
	h.requests(func(r *measure.Request) {
		if r.Class == measure.OK {
			ok++
		} else {
			failed++
		}
	})
	c := &h.now().Client
	if ok < enough || c.TTFT.N < enough {
		return Verdict{
			Rule: "not_enough_data", Says: fmt.Sprintf("not enough data yet: %d of %d requests", ok, enough),
		}
	}
	says := fmt.Sprintf("healthy: TTFT p95 %s", millis(c.TTFT.P95))
	if c.TPOT.N >= enough {
		says += fmt.Sprintf(", TPOT p95 %s", millis(c.TPOT.P95))
	}
	if failed > 0 {
		says += fmt.Sprintf(", %d of %d requests failed", failed, ok+failed)
	} else {
		says += ", no failures"
	}
	return Verdict{
		Rule: "healthy", Level: Healthy, Says: says,
		Evidence: []string{fmt.Sprintf("%d requests in %.0f s, %.1f requests/s, %.0f output tokens/s", ok, h.seconds(), c.RequestsPerS, c.OutTokensPerS)},
	}
}
