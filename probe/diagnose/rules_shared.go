package diagnose

import (
	"fmt"
	"time"

	"sonde/probe"
	"sonde/probe/opt"
)

// sharedServer finds that the engine works for others beside us.
type sharedServer struct{ theirs, ours, all float64 } // requests in flight, means

// sharedSpan is how long others must be there: a single request comes and goes.
const sharedSpan = 10 * time.Second

func (r *sharedServer) check(h *history) outcome {
	const fewest, share = 1.5, 0.25
	frames, ok := h.steady(sharedSpan)
	if !ok || unloaded(h.now()) {
		return unclear
	}
	n := 0
	for i, f := range frames {
		all := inEngine(f)
		if !all.OK {
			return unclear
		}
		if i == 0 || f.Engine.Reading.At.Equal(frames[i-1].Engine.Reading.At) {
			continue // not a new reading
		}
		n++
		r.all, r.ours = r.all+all.V, r.ours+float64(f.Client.InFlight)
		if all.V <= float64(f.Client.InFlight) {
			return absent
		}
	}
	if n < 3 {
		return unclear
	}
	r.all, r.ours = r.all/float64(n), r.ours/float64(n)
	r.theirs = r.all - r.ours
	return found(r.theirs >= max(fewest, share*r.ours))
}

// inEngine is how many requests the engine has, running and waiting.
func inEngine(f *probe.Frame) opt.Float {
	r, ok := reading(f)
	if !ok || !r.Running.OK || !r.Waiting.OK {
		return opt.Float{}
	}
	return opt.Of(r.Running.V + r.Waiting.V)
}

func (r *sharedServer) verdict() Verdict {
	return Verdict{
		Level: Note, aside: r.theirs < r.ours,
		Says: fmt.Sprintf("others use this engine: about %s of its %s requests are not ours",
			count(r.theirs), count(r.all)),
		Evidence: []string{fmt.Sprintf("means of %.0f s: the engine has %.1f requests, %.1f of them ours", sharedSpan.Seconds(), r.all, r.ours)},
		Advice:   "the figures are of both loads together: measure without the others, or count them in",
	}
}
