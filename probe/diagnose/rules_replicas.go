package diagnose

import (
	"cmp"
	"fmt"
	"slices"
)

// unevenReplicas finds that some requests decode at one speed and others at
// another, at the same time: different machines serve them.
type unevenReplicas struct {
	fast, slow       float64 // median of each kind, ms
	slower, requests int
}

// pace is the median gap of one request, which a stall or a prompt in between does
// not change, and its place in the order of their ends.
type pace struct {
	ms     float64
	order  int
	tokens float64 // of its prompt
}

func (r *unevenReplicas) check(h *history) outcome {
	const fewest, most, shortest = 40, 200, 16 // requests; gaps
	requests := h.atLoad().requests
	var all []pace
	for i, q := range requests[max(0, len(requests)-most):] {
		if len(q.GapsMS) < shortest {
			continue
		}
		if ms := median(q.GapsMS); ms > 0 {
			all = append(all, pace{ms, i, float64(q.InTokens)})
		}
	}
	if r.requests = len(all); r.requests < fewest {
		return unclear
	}
	slices.SortFunc(all, func(a, b pace) int { return cmp.Compare(a.ms, b.ms) })
	cut := widestStep(all)
	if cut == 0 {
		return absent
	}
	fast, slow := all[:cut], all[cut:]
	r.fast, r.slow, r.slower = fast[len(fast)/2].ms, slow[len(slow)/2].ms, len(slow)
	// Two narrow kinds with nothing between them; a single wide one is a load that
	// changes, or prompts that disturb each other.
	const apart, narrow = 1.5, 1.25
	return found(r.slow >= apart*r.fast && fast[len(fast)*9/10].ms <= narrow*r.fast && slow[len(slow)*9/10].ms <= narrow*r.slow &&
		mixed(slow, r.requests) && alike(fast, slow))
}

// widestStep is where sorted paces fall apart the most, with enough on either
// side; 0 if there is no clear step.
func widestStep(all []pace) int {
	const step = 1.25
	each := max(5, len(all)/20)
	cut, widest := 0, step
	for i := each; i <= len(all)-each; i++ {
		if ratio := all[i].ms / all[i-1].ms; ratio >= widest {
			cut, widest = i, ratio
		}
	}
	return cut
}

// alike tells that the prompts of both kinds are about as long: a long context makes
// each step longer.
func alike(a, b []pace) bool {
	const most = 1.5
	tokens := func(of []pace) float64 {
		all := make([]float64, len(of))
		for i, p := range of {
			all[i] = p.tokens
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	x, y := tokens(a), tokens(b)
	return x <= most*y && y <= most*x
}

// mixed tells that the slow ones end throughout the time and not one after the
// other: in every quarter there are some of each kind.
func mixed(slow []pace, all int) bool {
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

func (r *unevenReplicas) verdict() Verdict {
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("uneven replicas: %s of requests decode at %s a token, the others at %s",
			percent(float64(r.slower)/float64(r.requests)), millis(r.slow), millis(r.fast)),
		Evidence: []string{fmt.Sprintf("two speeds and nothing between, side by side in time, n %d", r.requests)},
		Advice:   "address the replicas one by one, and take the slow one out or look at its GPU and its load",
	}
}
