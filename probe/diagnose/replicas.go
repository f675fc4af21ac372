package diagnose

import (
	"cmp"
	"slices"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// decoder is a request with its median gap, and its place in the order of their ends.
type decoder struct {
	*measure.Request
	ms    float64
	order int
}

// checkUnevenReplicas finds that requests decode at two speeds at the same time: different
// machines serve them.
func checkUnevenReplicas(h *history) finding {
	const most = 200 // requests: sorting every gap takes its time
	requests := h.present.requests
	var all []decoder
	for i, q := range requests[max(0, len(requests)-most):] {
		if len(q.GapsMS) < unevenGaps {
			continue
		}
		if ms := median(q.GapsMS); ms > 0 {
			all = append(all, decoder{q, float64(ms), i})
		}
	}
	n := len(all)
	if n < unevenFewest {
		return unclear
	}
	slices.SortFunc(all, func(a, b decoder) int { return cmp.Compare(a.ms, b.ms) })
	cut := widestStep(all)
	if cut == 0 {
		return absent
	}
	fast, slow := all[:cut], all[cut:]
	quick, late := fast[len(fast)/2].ms, slow[len(slow)/2].ms
	// Two narrow groups with nothing between them. One wide group is a load that changes, or
	// prompts that disturb each other.
	narrow := fast[len(fast)*9/10].ms <= unevenNarrow*quick && slow[len(slow)*9/10].ms <= unevenNarrow*late
	return decide(true, late >= unevenTimes*quick && narrow && mixed(slow, n) && alike(fast, slow),
		warn("uneven replicas: %s of requests decode at %s per token, the others at %s",
			units.Share(float64(len(slow))/float64(n)), units.Millis(late), units.Millis(quick)).
			with("two distinct speeds at the same time, n %d", n).
			advise("test the replicas one by one; check the GPU and the load of the slow one, or remove it"))
}

// widestStep is the index of the widest step between sorted decoders, with enough of them
// on either side; 0 if no step is clear.
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

// alike reports whether the prompts of both groups are about as long: a long context makes
// each step longer.
func alike(a, b []decoder) bool {
	usual := func(kind []decoder) float64 {
		lengths := make([]int, len(kind))
		for i, d := range kind {
			lengths[i] = d.InTokens
		}
		return float64(median(lengths))
	}
	x, y := usual(a), usual(b)
	return x <= unevenPrompts*y && y <= unevenPrompts*x
}

// mixed reports whether the slow ones are spread over the whole time: every quarter has some
// of each group.
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

// checkReplicasGone finds replicas that have fallen silent while others go on.
func checkReplicasGone(h *history) finding {
	r, ok := h.now().FreshEngine()
	if !ok || r.Replicas == 0 {
		return unclear
	}
	return decide(true, len(r.Gone) > 0, warn("%s", r.GoneText()).
		with("Prometheus has no current series for it: the target cannot be scraped, or was removed").
		advise("check that replica and Prometheus' targets page; engine figures cover the other replicas only"))
}
