package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// sharedServer finds that the engine works for others beside us.
type sharedServer struct {
	theirs, ours, all float64 // requests in flight, means
	most              float64 // of theirs, at once
}

// sharedSpan is how long others must be there: a single request comes and goes.
const sharedSpan = 10 * time.Second

func (r *sharedServer) check(h *history) outcome {
	const fewest, share = 1.5, 0.25
	frames, ok := h.steady(sharedSpan)
	if !ok || unloaded(h.now()) {
		return unclear
	}
	n, with := 0, 0
	for i, f := range frames {
		all := inEngine(f)
		if !all.OK {
			return unclear
		}
		if i == 0 || f.Engine.Reading.At.Equal(frames[i-1].Engine.Reading.At) {
			continue // not a new reading
		}
		ours := inFlightBefore(frames[:i+1])
		if n++; all.V > ours {
			with++
		}
		r.all, r.ours, r.most = r.all+all.V, r.ours+min(ours, all.V), max(r.most, all.V-ours)
	}
	if n < 3 {
		return unclear
	}
	r.all, r.ours = r.all/float64(n), r.ours/float64(n)
	r.theirs = r.all - r.ours
	return found(with >= 3 && r.theirs >= max(fewest, share*r.ours))
}

// inFlightBefore is how many requests of ours there were at most since shortly
// before a reading: it may be a second old when a Frame first shows it.
func inFlightBefore(frames []*frame.Frame) float64 {
	const old = 1500 * time.Millisecond
	most, now := 0, frames[len(frames)-1].At
	for i := len(frames) - 1; i >= 0 && now-frames[i].At <= old; i-- {
		most = max(most, frames[i].Client.InFlight)
	}
	return float64(most)
}

// inEngine is how many requests the engine has, running and waiting.
func inEngine(f *frame.Frame) opt.Float {
	r, ok := reading(f)
	if !ok || !r.Running.OK || !r.Waiting.OK {
		return opt.Float{}
	}
	return opt.Of(r.Running.V + r.Waiting.V)
}

func (r *sharedServer) verdict() Verdict {
	return Verdict{
		Severity: Info, aside: r.most < r.ours,
		Text: fmt.Sprintf("others use this engine, with up to %s requests at once: %s of %s in flight are not ours",
			count(r.most), count(r.theirs), count(r.all)),
		Evidence: []string{fmt.Sprintf("means of %.0f s: the engine has %.1f requests, %.1f of them ours", sharedSpan.Seconds(), r.all, r.ours)},
		Advice:   "the figures are of both loads together: measure without the others, or count them in",
	}
}
