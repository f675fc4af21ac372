package diagnose

import (
	"fmt"
	"math"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// unanswered are our own requests without a first token.
func unanswered(f *frame.Frame) opt.Float { return opt.Of(float64(f.Client.Prefill)) }

// checkOverload finds a queue that grows at an unchanged load, or a rate that cannot be
// sustained.
func checkOverload(h *history) finding {
	frames, ok := h.steady(overloadSpan)
	if !ok || len(frames) < overloadFrames {
		return unclear
	}
	rate, done, limit := h.now().Load.Rate(), succeededPerS(frames), frames[0].Load.Requested.Concurrency
	if rate > 0 && done <= overloadDone*rate && allInUse(frames, limit) {
		return overloaded(h, bad("overload: %.1f of %.1f requests/s completed with all %d streams in use", done, rate, limit).
			with("mean of the last %s", units.Span(overloadSpan)))
	}
	name, queue := "requests in the engine's queue", waiting
	if !everyFrame(frames, waiting).OK {
		if rate == 0 {
			return unclear // a closed loop cannot run away
		}
		name, queue = "requests without a first token", unanswered
	}
	span, grows := overloadSpan, false
	var before, after float64
	switch {
	case everyFrame(frames, queue).V > everyFrame(frames, unanswered).V+1:
		if frames, _ = h.last(overloadOthersSpan); !everyFrame(frames, held).OK {
			return unclear
		}
		before, after, span, grows = h.othersGrow(queue, done)
	case rate == 0:
		return absent // all of them are ours, and their number is fixed
	default:
		before, after, grows = growth(frames, queue, max(rate, done))
	}
	from, to := units.Whole(before), units.Whole(after)
	return decide(true, grows, overloaded(h,
		bad("overload: the queue keeps growing, from %s to %s in %.0f s", from, to, span.Seconds()).
			with("%s: from %s to %s within %.0f s at the same load", name, from, to, span.Seconds()).
			withIf(rate > 0, "%.1f of %.1f requests/s completed", done, rate)))
}

// overloaded adds whose requests they are. Where most belong to others, a lower load of ours
// would not help.
func overloaded(h *history, f finding) finding {
	oldest := h.now().Client.OldestWaiting
	f = f.withIf(oldest > 0, "the oldest request has waited %s for its first token", units.Millis(float64(oldest)/1e6))
	all := held(h.now())
	others := all.V - inFlightBefore(h.frames)
	if !all.OK || others <= all.V/2 {
		return f.advise("lower the load, or add replicas")
	}
	f.Text += fmt.Sprintf("; %s of %s requests are not ours", units.Whole(others), units.Whole(all.V))
	return f.advise("limit the other clients, or add replicas: most of the load is theirs")
}

// growth reports whether a queue gets longer from each third of the time to the next, by
// more than chance explains at so many requests per second.
func growth(frames []*frame.Frame, queue func(*frame.Frame) opt.Float, perS float64) (before, after float64, grows bool) {
	third := len(frames) / 3
	a := everyFrame(frames[:third], queue).V
	b := everyFrame(frames[third:2*third], queue).V
	c := everyFrame(frames[2*third:], queue).V
	// At a load that can just be sustained a queue goes up and down by about the square
	// root of the requests that come and go meanwhile.
	noise := math.Sqrt(perS * (frames[len(frames)-1].At - frames[third].At).Seconds())
	return a, c, a < b && b < c && c >= a+overloadBy+noise && c >= overloadTimes*a
}

// othersGrow reports whether the queue of all clients grows, or has grown shortly before and stands
// since: nobody is served sooner for that.
func (h *history) othersGrow(queue func(*frame.Frame) opt.Float, perS float64) (before, after float64, span time.Duration, grows bool) {
	newest, _ := h.last(burst)
	now := everyFrame(newest, queue).V
	for stands := time.Duration(0); stands <= overloadStands; stands += overloadStands / 4 {
		span = overloadOthersSpan + stands
		frames, ok := h.steady(span)
		for len(frames) > 0 && frames[len(frames)-1].At > h.now().At-stands {
			frames = frames[:len(frames)-1]
		}
		if !ok || len(frames) < overloadFrames || !everyFrame(frames, held).OK {
			break
		}
		if before, after, grows = growthOfOthers(frames, queue, perS); grows && now >= overloadStood*after {
			if stands > 0 {
				after = now
			}
			return before, after, span, true
		}
	}
	return before, after, span, false
}

// growthOfOthers is growth where others' requests wait too. Nothing is known about their load: it
// may have arrived at one instant and be served one by one, and a fixed number of clients fills
// the queue and no more. So all that the engine has must grow from each fifth to the next, and
// the queue with it.
func growthOfOthers(frames []*frame.Frame, queue func(*frame.Frame) opt.Float, perS float64) (before, after float64, grows bool) {
	fifth := len(frames) / 5
	var all, waits [5]float64
	for i := range all {
		part := frames[i*fifth : (i+1)*fifth]
		all[i], waits[i] = everyFrame(part, held).V, everyFrame(part, queue).V
	}
	grows = waits[4] >= overloadBy && waits[4] > waits[3] && waits[3] >= waits[2]
	for i := 1; i < len(all); i++ {
		grows = grows && all[i] > all[i-1]
	}
	noise := math.Sqrt(perS * (frames[len(frames)-1].At - frames[fifth].At).Seconds())
	return waits[0], waits[4], grows && all[4] >= all[0]+overloadBy+noise
}

// allInUse reports whether an open loop had all its streams in use.
func allInUse(frames []*frame.Frame, limit int) bool {
	for _, f := range frames {
		if f.Client.InFlight < limit {
			return false
		}
	}
	return limit > 0
}

// succeededPerS is how many of our requests succeed per second in some Frames.
func succeededPerS(frames []*frame.Frame) float64 {
	n, span := 0, time.Duration(0)
	for _, f := range frames {
		for i := range f.Requests {
			if succeeded(&f.Requests[i]) {
				n++
			}
		}
	}
	span = frames[len(frames)-1].At - frames[0].At + frames[0].Slice
	return float64(n) / span.Seconds()
}

// checkPastKnee finds a load that is past the knee: the same one that a sweep looks for.
func checkPastKnee(h *history) finding {
	now := h.now()
	if h.levels == nil || !now.Load.Settled || now.Load.Requested.Rate > 0 {
		return unclear
	}
	var before, after *level.Level
	for _, l := range level.Curve(h.levels.Levels(), now.Load.Requested) {
		switch {
		case !trusted(&l):
		case l.Load == now.Load.Requested:
			after = &l
		case kneeStreams*l.Amount() <= float64(now.Load.Requested.Concurrency):
			before = &l // the largest of them is the last
		}
	}
	if before == nil || after == nil {
		return unclear
	}
	a, b := before.Load.Concurrency, after.Load.Concurrency
	return decide(true, level.PastKnee(before, after),
		warn("past the knee: from %d to %d streams, output went from %s to %s tokens/s",
			a, b, units.Whole(before.OutTokensPerS.V), units.Whole(after.OutTokensPerS.V)).
			with("TTFT p95 went from %s to %s; both levels settled", units.Millis(before.TTFT.P95), units.Millis(after.TTFT.P95)).
			advise("beyond "+units.Count(a, "stream")+", more load adds more waiting than throughput"))
}

// trusted reports whether the throughput of a level can be compared: each stream has had
// two responses, so that it does not matter whether streams are in step with each other.
func trusted(l *level.Level) bool {
	return l.Settled && l.OutTokensPerS.OK && l.OK >= enough && l.Held >= kneeShortest && l.Held >= kneeAnswers*milliseconds(l.E2E.P50)
}
