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

// queue is what waits, as far as it is known.
type queue struct {
	name  string
	count func(*frame.Frame) opt.Float
}

var (
	engineWaits = queue{"requests in the engine's queue", waiting}
	clientWaits = queue{"requests without a first token", unanswered}
)

// unanswered are our own requests without a first token.
func unanswered(f *frame.Frame) opt.Float { return opt.Of(float64(f.Client.Prefill)) }

// pace is the rate of an open loop, and what is done of it; requests per second.
type pace struct{ rate, done float64 }

// checkOverload finds a queue that grows while the load stays the same, or a rate that
// cannot be kept.
func checkOverload(h *history) (outcome, Verdict) {
	frames, ok := h.steady(overloadSpan)
	if !ok || len(frames) < overloadFrames {
		return unclear, Verdict{}
	}
	p := pace{h.now().Load.Requested.Rate, succeededPerS(frames)}
	if limit := frames[0].Load.Requested.Concurrency; p.rate > 0 && p.done <= overloadDone*p.rate && allInUse(frames, limit) {
		return holds, overloaded(h, fmt.Sprintf("overload: %.1f of %.1f requests/s completed with all %d streams in use", p.done, p.rate, limit),
			fmt.Sprintf("mean of the last %.0f s", overloadSpan.Seconds()))
	}
	q := engineWaits
	if !everyFrame(frames, waiting).OK {
		if p.rate == 0 {
			return unclear, Verdict{} // a closed loop cannot run away
		}
		q = clientWaits
	}
	if everyFrame(frames, q.count).V > everyFrame(frames, unanswered).V+1 {
		// Not ours alone. Nothing is known of the other load: it may have come all at
		// once, and be served one by one.
		if frames, ok = h.steady(overloadOthersSpan); !ok || !everyFrame(frames, q.count).OK {
			return unclear, Verdict{}
		}
		before, after, grows := q.growth(frames, p)
		return when(grows && before >= 1, func() Verdict { return queueGrows(h, q, p, before, after, overloadOthersSpan) })
	}
	if p.rate == 0 {
		return absent, Verdict{} // they are all ours, and of those there cannot be more
	}
	before, after, grows := q.growth(frames, p)
	return when(grows, func() Verdict { return queueGrows(h, q, p, before, after, overloadSpan) })
}

// growth reports whether the queue gets longer from third to third of the time, and
// not by chance.
func (q queue) growth(frames []*frame.Frame, p pace) (before, after float64, grows bool) {
	third := len(frames) / 3
	a := everyFrame(frames[:third], q.count).V
	b := everyFrame(frames[third:2*third], q.count).V
	c := everyFrame(frames[2*third:], q.count).V
	// A queue at a load that can just be carried goes up and down: by about the
	// root of the requests that come and go meanwhile.
	apart := (frames[len(frames)-1].At - frames[third].At).Seconds()
	noise := math.Sqrt(max(p.rate, p.done) * apart)
	return a, c, a < b && b < c && c >= a+overloadBy+noise && c >= overloadTimes*a
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
	n := 0
	for _, f := range frames {
		for i := range f.Requests {
			if succeeded(&f.Requests[i]) {
				n++
			}
		}
	}
	return float64(n) / (frames[len(frames)-1].At - frames[0].At + frames[0].Slice).Seconds()
}

func queueGrows(h *history, q queue, p pace, before, after float64, span time.Duration) Verdict {
	evidence := []string{fmt.Sprintf("%s: from %s to %s within %.0f s at the same load", q.name, units.Whole(before), units.Whole(after), span.Seconds())}
	if p.rate > 0 {
		evidence = append(evidence, fmt.Sprintf("%.1f of %.1f requests/s completed", p.done, p.rate))
	}
	return overloaded(h, fmt.Sprintf("overload: the queue keeps growing, from %s to %s in %.0f s", units.Whole(before), units.Whole(after), span.Seconds()), evidence...)
}

func overloaded(h *history, text string, evidence ...string) Verdict {
	if oldest := h.now().Client.OldestWaiting; oldest > 0 {
		evidence = append(evidence, fmt.Sprintf("the oldest request has waited %s for its first token", units.Millis(float64(oldest)/1e6)))
	}
	return Verdict{Severity: Bad, Text: text, Evidence: evidence, Advice: "lower the load, or add replicas"}
}

// checkPastKnee finds a load that is past the knee: the same one that a sweep looks for.
func checkPastKnee(h *history) (outcome, Verdict) {
	now := h.now()
	if h.levels == nil || !now.Load.Settled || now.Load.Requested.Rate > 0 {
		return unclear, Verdict{}
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
		return unclear, Verdict{}
	}
	return when(level.PastKnee(before, after), func() Verdict {
		a, b := before.Load.Concurrency, after.Load.Concurrency
		return Verdict{
			Severity: Warn,
			Text: fmt.Sprintf("past the knee: from %d to %d streams output went from %s to %s tokens/s",
				a, b, units.Whole(before.OutTokensPerS.V), units.Whole(after.OutTokensPerS.V)),
			Evidence: []string{fmt.Sprintf("TTFT p95 went from %s to %s; both levels settled", units.Millis(before.TTFT.P95), units.Millis(after.TTFT.P95))},
			Advice:   fmt.Sprintf("beyond %d streams, more load adds more waiting than throughput", a),
		}
	})
}

// trusted reports whether the throughput of a level can be compared: it covers the
// answers of every stream twice over, so that streams in step with each other do not
// matter.
func trusted(l *level.Level) bool {
	return l.Settled && l.OutTokensPerS.OK && l.OK >= enough && l.Held >= kneeShortest && l.Held >= kneeAnswers*milliseconds(l.E2E.P50)
}
