package diagnose

import (
	"fmt"
	"math"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// overload finds a queue that grows while the load stays the same, or a rate that
// cannot be kept.
type overload struct {
	what           string
	span           time.Duration
	before, after  float64
	oldest         time.Duration
	rate, achieved float64 // requests per second, asked and done; open loop only
	capped         int     // streams that the rate is capped at, if they are all in use
}

// overloadSpan is how long the load must stand still before growth is judged.
const (
	overloadSpan = 15 * time.Second
	othersSpan   = 25 * time.Second // if it is not ours alone
)

func (r *overload) check(h *history) outcome {
	now := h.now()
	r.span = overloadSpan
	frames, ok := h.steady(r.span)
	if !ok || len(frames) < 6 {
		return unclear
	}
	r.oldest = now.Client.OldestWaiting
	r.rate, r.achieved = now.Load.Asked.Rate, h.done(frames)
	if r.capReached(frames) {
		return holds
	}
	queue := waiting
	r.what = "requests in the engine's queue"
	if !everyFrame(frames, waiting).OK {
		if r.rate == 0 {
			return unclear // a closed loop cannot run away
		}
		r.what = "requests without a first token"
		queue = unanswered
	}
	if queued := everyFrame(frames, queue).V; queued > everyFrame(frames, unanswered).V+1 {
		return r.ofOthers(h, queue)
	}
	if r.rate == 0 {
		return absent // they are all ours, and of those there cannot be more
	}
	return found(r.grows(frames, queue))
}

// ofOthers judges a queue that is not ours alone. Nothing is known of that load: it
// may have come all at once, and be served one by one.
func (r *overload) ofOthers(h *history, queue func(*frame.Frame) opt.Float) outcome {
	r.span = othersSpan
	frames, ok := h.steady(r.span)
	if !ok || !everyFrame(frames, queue).OK {
		return unclear
	}
	return found(r.grows(frames, queue) && r.before >= 1)
}

// grows tells that the queue gets longer from third to third of the time, and not by
// chance.
func (r *overload) grows(frames []*frame.Frame, queue func(*frame.Frame) opt.Float) bool {
	third := len(frames) / 3
	a := everyFrame(frames[:third], queue).V
	b := everyFrame(frames[third:2*third], queue).V
	c := everyFrame(frames[2*third:], queue).V
	r.before, r.after = a, c
	// A queue at a load that can just be carried goes up and down: by about the
	// root of the requests that come and go meanwhile.
	apart := (frames[len(frames)-1].At - frames[third].At).Seconds()
	noise := math.Sqrt(max(r.rate, r.achieved) * apart)
	return a < b && b < c && c >= a+3+noise && c >= 1.2*a
}

// capReached tells that an open loop has all its streams in use and falls behind.
func (r *overload) capReached(frames []*frame.Frame) bool {
	limit := frames[0].Load.Asked.Concurrency
	if r.rate == 0 || limit == 0 || r.achieved > 0.9*r.rate {
		return false
	}
	for _, f := range frames {
		if f.Client.InFlight < limit {
			return false
		}
	}
	r.capped = limit
	return true
}

// unanswered are our own requests without a first token.
func unanswered(f *frame.Frame) opt.Float { return opt.Of(float64(f.Client.Prefill)) }

// done is how many of our requests succeed per second in some Frames.
func (h *history) done(frames []*frame.Frame) float64 {
	n := 0
	for _, f := range frames {
		for i := range f.Requests {
			if isSuccess(&f.Requests[i]) {
				n++
			}
		}
	}
	return float64(n) / (frames[len(frames)-1].At - frames[0].At + frames[0].Slice).Seconds()
}

func (r *overload) verdict() Verdict {
	v := Verdict{
		Severity: Bad, Text: fmt.Sprintf("overload: the queue keeps growing, from %s to %s in %.0f s", count(r.before), count(r.after), r.span.Seconds()),
		Advice: "lower the load, or add replicas",
	}
	if r.capped > 0 {
		v.Text = fmt.Sprintf("overload: %.1f of %.1f requests/s are done with all %d streams in use", r.achieved, r.rate, r.capped)
	} else {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%s: from %s to %s within %.0f s at the same load", r.what, count(r.before), count(r.after), r.span.Seconds()))
		if r.rate > 0 {
			v.Evidence = append(v.Evidence, fmt.Sprintf("%.1f of %.1f requests per second are done", r.achieved, r.rate))
		}
	}
	if r.oldest > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("the oldest has waited %s for its first token", millis(float64(r.oldest)/1e6)))
	}
	if len(v.Evidence) == 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("mean of the last %.0f s", r.span.Seconds()))
	}
	return v
}
