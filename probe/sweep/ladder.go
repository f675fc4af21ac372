package sweep

import (
	"math"
	"slices"

	"sonde/probe/level"
	"sonde/probe/slo"
)

// ladder decides which load comes next. It knows nothing of time: it is consulted after
// each level with the curve so far.
type ladder struct {
	plan    Plan
	slos    []slo.Target    // to find the boundary of; none: only the knee is looked for
	visited map[float64]int // by amount
	count   int             // levels tried
	last    float64         // amount of the newest level
	topped  bool            // no larger load is tried
	ceiling float64         // the smallest amount that was too much; +Inf while there is none
}

const (
	// Two loads are neighbours when they differ by no more than these shares, or by
	// one stream.
	boundaryStep = 1.0 / 8
	kneeStep     = 1.0 / 4
	// maxLevels bounds the automatic ladder, whatever the answers are.
	maxLevels = 32
	// twice is how often one load is tried at most.
	twice = 2
	// lowestRate ends the search for a rate that a slow service can hold.
	lowestRate = 1.0 / 64
)

// step is one level to try.
type step struct {
	amount  float64
	purpose Purpose
}

func newLadder(p Plan, slos []slo.Target) *ladder {
	if p.From <= 0 {
		p.From = 1
	}
	if p.Cap > 0 && p.From > p.Cap {
		p.From = p.Cap
	}
	return &ladder{plan: p, slos: slos, visited: map[float64]int{}, ceiling: math.Inf(1)}
}

// top ends the climb: no load beyond the newest is of interest.
func (l *ladder) top() {
	l.topped = true
	l.ceiling = min(l.ceiling, l.last)
}

// cutsShort reports whether an end of the climb now skips levels that were given,
// and that are not skipped already.
func (l *ladder) cutsShort() bool {
	return slices.ContainsFunc(l.rest(), func(amount float64) bool { return amount > l.last && amount < l.ceiling })
}

// rest are the levels of the list that are still to come; none of a ladder that finds
// them itself.
func (l *ladder) rest() []float64 { return l.plan.Rungs[min(l.count, len(l.plan.Rungs)):] }

// next is the level to try now; false if there is none left.
func (l *ladder) next(curve []level.Level) (step, bool) {
	s, ok := l.choose(curve)
	if !ok || l.plan.automatic() && l.count >= maxLevels {
		return step{}, false
	}
	l.visited[s.amount]++
	l.count++
	l.last = s.amount
	return s, true
}

func (l *ladder) choose(curve []level.Level) (step, bool) {
	if !l.plan.automatic() {
		return l.given()
	}
	if s, ok := l.climb(curve); ok {
		return s, true
	}
	if len(l.slos) > 0 {
		if s, ok := l.boundary(curve); ok {
			return s, true
		}
	}
	return l.knee(curve)
}

// given goes through the list; above a load that was too much nothing is tried.
func (l *ladder) given() (step, bool) {
	for _, amount := range l.rest() {
		if amount < l.ceiling {
			return step{amount, Given}, true
		}
		l.count++ // skipped
	}
	return step{}, false
}

// climb doubles the load until more of it shows nothing new.
func (l *ladder) climb(curve []level.Level) (step, bool) {
	if l.topped {
		return step{}, false
	}
	amount := l.plan.From
	if l.count > 0 {
		amount = 2 * l.last
	}
	if l.plan.Cap > 0 && l.last >= l.plan.Cap || l.seenEnough(curve) {
		l.top()
		return step{}, false
	}
	if l.plan.Cap > 0 {
		amount = min(amount, l.plan.Cap)
	}
	return step{l.plan.amount(amount), Climbing}, true
}

// seenEnough reports whether the curve has gone over its knee, and over the boundary
// if one is looked for.
func (l *ladder) seenEnough(curve []level.Level) bool {
	if knee, _ := FindKnee(curve); knee == nil {
		return false
	}
	return len(l.slos) == 0 || FindBoundary(curve).Above != nil
}

// boundary halves the distance between the largest load that meets the SLOs and the
// smallest that does not; then it makes sure of the two.
func (l *ladder) boundary(curve []level.Level) (step, bool) {
	judged := judgedLevels(curve)
	split := splitOf(judged)
	if split < len(judged) {
		low := 0.0
		if split > 0 {
			low = judged[split-1].Amount()
		}
		if s, ok := l.between(low, judged[split].Amount(), boundaryStep, AtBoundary); ok {
			return s, true
		}
	}
	return l.confirm(judged, split)
}

// confirm gathers more samples at the loads on both sides of the boundary, where
// those that are there are too few to be sure.
func (l *ladder) confirm(judged []level.Level, split int) (step, bool) {
	for _, i := range []int{split - 1, split} {
		if i < 0 || i >= len(judged) {
			continue
		}
		r := &judged[i]
		tried := float64(r.OK) >= sampleReserve*float64(needed(l.slos))
		if !r.Verdict().Decided() && !tried && l.visited[r.Amount()] < twice {
			return step{r.Amount(), Confirming}, true
		}
	}
	return step{}, false
}

// knee closes in on the largest power from the side that is further away.
func (l *ladder) knee(curve []level.Level) (step, bool) {
	k, _ := FindKnee(curve)
	if k == nil {
		return step{}, false
	}
	below, at, above := k.Below.Amount(), k.At.Amount(), k.Above.Amount()
	up, okUp := l.between(at, above, kneeStep, AtKnee)
	down, okDown := l.between(below, at, kneeStep, AtKnee)
	if okUp && (!okDown || above/at >= at/below) {
		return up, true
	}
	return down, okDown
}

// between is a load between two others that are further apart than the step allows,
// and that was not tried yet.
func (l *ladder) between(low, high, share float64, why Purpose) (step, bool) {
	least := 1.0
	if l.plan.Open {
		least = 0
	}
	if high-low <= max(least, share*low)*(1+1e-9) || high <= lowestRate {
		return step{}, false
	}
	mid := math.Sqrt(low * high)
	if low == 0 {
		mid = high / 2
	}
	mid = l.plan.amount(mid)
	if !l.plan.Open {
		mid = min(max(mid, low+1), high-1)
	}
	if mid <= low || mid >= high || l.visited[mid] > 0 {
		return step{}, false
	}
	return step{mid, why}, true
}

// amount brings a load into a form that is short to read: whole streams, rates of three
// digits.
func (p *Plan) amount(v float64) float64 {
	if !p.Open {
		return max(1, math.Round(v))
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/unit) * unit
}

// left is about how many levels are still to come.
func (l *ladder) left(curve []level.Level) int {
	if !l.plan.automatic() {
		n := 0
		for _, amount := range l.rest() {
			if amount < l.ceiling {
				n++
			}
		}
		return n
	}
	n := 0
	if !l.topped {
		n = 2 // doublings
		if l.plan.Cap > 0 && l.last > 0 {
			n = min(n, int(math.Ceil(math.Log2(l.plan.Cap/l.last))))
		}
	}
	if b := FindBoundary(curve); len(l.slos) > 0 {
		n += halvings(b.gap(), boundaryStep)
	}
	ratio := 2.0
	if k, _ := FindKnee(curve); k != nil {
		ratio = max(k.Above.Amount()/k.At.Amount(), k.At.Amount()/k.Below.Amount())
	}
	return min(n+halvings(ratio, kneeStep), maxLevels-l.count)
}

// gap is the ratio of the two loads beside the boundary.
func (b *Boundary) gap() float64 {
	if b.Best == nil || b.Above == nil {
		return 2
	}
	return b.Above.Amount() / b.Best.Amount()
}

// halvings is how often an interval has to be halved until its ratio is below 1 + share.
func halvings(ratio, share float64) int {
	if ratio <= 1+share {
		return 0
	}
	return int(math.Ceil(math.Log2(math.Log(ratio) / math.Log1p(share))))
}
