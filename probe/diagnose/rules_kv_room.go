package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// kvRoom finds requests that wait for room in the KV cache, although its mean fill
// leaves some: an engine admits a request only if the whole of its prompt fits.
type kvRoom struct {
	queued, running float64
	most, each      float64 // highest fill, and the share that a running request holds
	span            time.Duration
}

func (r *kvRoom) check(h *history) outcome {
	r.span = 15 * time.Second
	frames, ok := h.steady(r.span)
	if !ok {
		return unclear
	}
	queued, active, fill := h.engineMean(r.span, waiting), h.engineMean(r.span, running), h.engineMean(r.span, fullest)
	if !queued.OK || !active.OK || !fill.OK || active.V < 1 {
		return unclear
	}
	r.queued, r.running, r.each = queued.V, active.V, fill.V/active.V
	r.most = highest(frames, fullest)
	// Requests in prefill do not hold all of their blocks yet, so the highest fill tells
	// more than the mean. A reserve for growing answers stays free.
	const reserve, nearlyFull = 0.03, 0.85
	return found(alwaysOne(frames, waiting) && r.most >= nearlyFull && r.most+r.each >= 1-reserve)
}

// highest is the largest value of a figure, 0 if no Frame tells it.
func highest(frames []*frame.Frame, figure func(*frame.Frame) opt.Float) float64 {
	most := 0.0
	for _, f := range frames {
		most = max(most, figure(f).Or(0))
	}
	return most
}

// alwaysOne tells that a figure is 1 at least in all Frames.
func alwaysOne(frames []*frame.Frame, figure func(*frame.Frame) opt.Float) bool {
	for _, f := range frames {
		if figure(f).Or(0) < 1 {
			return false
		}
	}
	return len(frames) > 0
}

func (r *kvRoom) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("%s wait for room in the KV cache: %s run and fill up to %s of it, one more takes %s",
			several(r.queued, "request"), count(r.running), percent(r.most), percent(r.each)),
		Evidence: []string{fmt.Sprintf("queue never empty in %.0f s, means of queue, running and fill", r.span.Seconds())},
		Advice:   "shorter prompts or answers, an 8-bit KV cache or more memory for it; more concurrency only lengthens the queue",
	}
}
