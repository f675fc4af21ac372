package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/units"
)

// decoder is the median gap of one request, and its place in the order of their ends.
type decoder struct {
	ms     float64
	order  int
	tokens float64 // of its prompt
}

// checkUnevenReplicas finds that some requests decode at one speed and others at
// another, at the same time: different machines serve them.
func checkUnevenReplicas(h *history) (outcome, Verdict) {
	const most = 200 // requests: sorting every gap takes its time
	requests := h.atLoad().requests
	var all []decoder
	for i, q := range requests[max(0, len(requests)-most):] {
		if len(q.GapsMS) < unevenGaps {
			continue
		}
		if ms := medianGap(q.GapsMS); ms > 0 {
			all = append(all, decoder{ms, i, float64(q.InTokens)})
		}
	}
	n := len(all)
	if n < unevenFewest {
		return unclear, Verdict{}
	}
	slices.SortFunc(all, func(a, b decoder) int { return cmp.Compare(a.ms, b.ms) })
	cut := widestStep(all)
	if cut == 0 {
		return absent, Verdict{}
	}
	fast, slow := all[:cut], all[cut:]
	quick, late := fast[len(fast)/2].ms, slow[len(slow)/2].ms
	// Two narrow kinds with nothing between them; a single wide one is a load that
	// changes, or prompts that disturb each other.
	narrow := fast[len(fast)*9/10].ms <= unevenNarrow*quick && slow[len(slow)*9/10].ms <= unevenNarrow*late
	return when(late >= unevenTimes*quick && narrow && mixed(slow, n) && alike(fast, slow), func() Verdict {
		return Verdict{
			Severity: Warn,
			Text: fmt.Sprintf("uneven replicas: %s of requests decode at %s a token, the others at %s",
				units.Share(float64(len(slow))/float64(n)), units.Millis(late), units.Millis(quick)),
			Evidence: []string{fmt.Sprintf("two speeds with nothing between them, side by side in time, n %d", n)},
			Advice:   "test the replicas one by one, and take the slow one out or check its GPU and its load",
		}
	})
}

// widestStep is where sorted decoders fall apart the most, with enough on either
// side; 0 if there is no clear step.
func widestStep(all []decoder) int {
	each := max(5, len(all)/20)
	cut, widest := 0, unevenNarrow
	for i := each; i <= len(all)-each; i++ {
		if ratio := all[i].ms / all[i-1].ms; ratio >= widest {
			cut, widest = i, ratio
		}
	}
	return cut
}

// alike reports whether the prompts of both kinds are about as long: a long context
// makes each step longer.
func alike(a, b []decoder) bool {
	median := func(kind []decoder) float64 {
		all := make([]float64, len(kind))
		for i, p := range kind {
			all[i] = p.tokens
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	x, y := median(a), median(b)
	return x <= unevenPrompts*y && y <= unevenPrompts*x
}

// mixed reports whether the slow ones end throughout the time and not one after the
// other: in every quarter there are some of each kind.
func mixed(slow []decoder, all int) bool {
	const quarters = 4
	var inQuarter [quarters]int
	for _, p := range slow {
		inQuarter[min(quarters-1, p.order*quarters/all)]++
	}
	for _, n := range inQuarter {
		if n == 0 || n >= all/quarters-1 {
			return false
		}
	}
	return true
}

// checkSharedServer finds that the engine works for others beside us.
func checkSharedServer(h *history) (outcome, Verdict) {
	const fewest = 3 // readings
	frames, ok := h.steady(sharedSpan)
	if !ok || unloaded(h.now()) {
		return unclear, Verdict{}
	}
	n, with := 0, 0
	var all, ours, most float64 // sums of requests in flight; of theirs, at once
	for i, f := range frames {
		now := held(f)
		if !now.OK {
			return unclear, Verdict{}
		}
		if i == 0 || f.Engine.Reading.At.Equal(frames[i-1].Engine.Reading.At) {
			continue // not a new reading
		}
		own := inFlightBefore(frames[:i+1])
		if n++; now.V > own {
			with++
		}
		all, ours, most = all+now.V, ours+min(own, now.V), max(most, now.V-own)
	}
	if n < fewest {
		return unclear, Verdict{}
	}
	all, ours = all/float64(n), ours/float64(n)
	return when(with >= fewest && all-ours >= max(sharedFewest, sharedShare*ours), func() Verdict {
		return Verdict{
			Severity: Info, aside: most < ours,
			Text: fmt.Sprintf("others use this engine, with up to %s requests at once: %s of %s in flight are not ours",
				units.Whole(most), units.Whole(all-ours), units.Whole(all)),
			Evidence: []string{fmt.Sprintf("means of %.0f s: the engine has %.1f requests, %.1f of them ours", sharedSpan.Seconds(), all, ours)},
			Advice:   "the figures are of both loads together: measure without the others, or take them into account",
		}
	})
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

// checkReplicasGone finds replicas that have fallen silent while others go on.
func checkReplicasGone(h *history) (outcome, Verdict) {
	r, ok := h.now().FreshEngine()
	if !ok || r.Replicas == 0 {
		return unclear, Verdict{}
	}
	return when(len(r.Gone) > 0, func() Verdict {
		return Verdict{
			Severity: Warn, Text: r.GoneText(),
			Evidence: []string{"Prometheus had series of it and has none now: the target cannot be scraped, or was removed"},
			Advice:   "check that replica and Prometheus' page of targets; the figures are of the others",
		}
	})
}
