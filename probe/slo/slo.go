// Package slo holds what a service is to keep to, and the one judge of it.
package slo

import (
	"math"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Target is one service level objective: a limit for a quantile of a latency, or, for the
// metric Success, the least share of requests that succeed.
type Target struct {
	Text         string  // as it was given, such as "ttft_p95=2s"
	Metric       string  // the name of a latency in the summary, or Success
	Quantile     float64 // 0 to 1; not for Success
	LimitMS      float64 // upper limit of that quantile
	SuccessShare float64 // lower limit for Success, 0 to 1
}

// Metrics that are judged by other rules than a latency of each request.
const (
	Success = "success" // the share of requests that succeed
	Gap     = "gap"     // a request has many
)

// Share is the part of the requests that has to be within the target.
func (t *Target) Share() float64 {
	if t.Metric == Success {
		return t.SuccessShare
	}
	return t.Quantile
}

// Value is what one request has to show for a target, in milliseconds. A figure that it
// cannot have, such as the TPOT of a single token, is absent; the gap is the quantile of the
// request's own gaps.
func (t *Target) Value(r *measure.Request) (ms float64, ok bool) {
	if t.Metric == Gap {
		own := measure.NewDist(len(r.GapsMS))
		for ms, n := range r.EachGap() {
			for range n {
				own.Add(ms)
			}
		}
		return own.Quantile(t.Quantile)
	}
	if i := measure.MetricNamed(t.Metric); i >= 0 {
		return measure.Metrics[i].Of(r)
	}
	return 0, false
}

// Good reports whether a request that succeeded meets every target; a figure that it cannot
// have cannot be missed.
func Good(r *measure.Request, targets []Target) bool {
	for i := range targets {
		if ms, ok := targets[i].Value(r); ok && ms > targets[i].LimitMS {
			return false
		}
	}
	return true
}

// Verdict is how a load stands to a target.
type Verdict int

// Verdicts. Seems… are what the samples say as they are, too few to be confident.
const (
	NotJudged  Verdict = iota // no target, or no sample
	Fails                     // with confidence
	SeemsFails                // the samples miss it
	SeemsMeets                // the samples meet it
	Meets                     // with confidence
)

// Met reports whether the samples as they are meet the target.
func (v Verdict) Met() bool { return v >= SeemsMeets }

// Decided reports whether there are samples enough to be confident.
func (v Verdict) Decided() bool { return v == Fails || v == Meets }

// Doubted is the verdict on figures that may still change.
func (v Verdict) Doubted() Verdict {
	switch v {
	case Meets:
		return SeemsMeets
	case Fails:
		return SeemsFails
	}
	return v
}

// String is the verdict in a word or two.
func (v Verdict) String() string {
	return [...]string{"", "fails", "seems to fail", "seems to meet", "meets"}[v]
}

// Short is the verdict in a table.
func (v Verdict) Short() string { return [...]string{"", "MISS", "miss?", "ok?", "ok"}[v] }

// Result is how one target came out at one load.
type Result struct {
	Target  Target
	Actual  opt.Float // milliseconds; for Success the share
	N       int       // independent samples behind it
	Over    int       // of these beyond the limit; for Success failures
	Verdict Verdict
	// Confidence is how sure the verdict is, 0 to 1: for a target that is met, that the true
	// quantile is within the limit; for one that is missed, that it is beyond.
	Confidence opt.Float
}

// DefaultConfidence is what a decided verdict needs.
const DefaultConfidence = 0.95

// Judge judges a target by n samples of which over are beyond the limit. Nothing is assumed
// about the distribution: where the target allows a share of the samples beyond, the number
// of samples beyond the true (1−allowed)-quantile is binomial, so that
//
//	P(at most `over` of n beyond) = Σ_{i ≤ over} C(n,i)·allowedⁱ·(1−allowed)ⁿ⁻ⁱ
//
// is how likely so good a sample is at a service that just misses the target. One minus that
// is the confidence that the target is met: the same as the limit lying above the upper one-sided
// confidence bound of the quantile from order statistics (Hahn and Meeker, Statistical
// Intervals, 5.2; Clopper and Pearson 1934 for the share). With none beyond, 95 % take
// ln 0.05 / ln(1−allowed) samples: 59 for a p95, 299 for a p99.
//
// Requests of one server are not quite independent of each other, so that the true
// confidence is a little less. Where the samples are too few the verdict goes by the
// measured figure, if there is one, else by their number.
func Judge(t Target, actual opt.Float, over, n int) Result {
	r := Result{Target: t, Actual: actual, N: n, Over: over}
	allowed := 1 - t.Share()
	met := 1 - binomialAtMost(over, n, allowed)
	missed := binomialAtMost(over-1, n, allowed)
	switch {
	case n == 0:
	case allowed <= 0 && over > 0:
		r.Verdict, r.Confidence = Fails, opt.Of(1)
	case allowed <= 0: // no sample can prove that there is nothing beyond
		r.Verdict = SeemsMeets
	case met >= DefaultConfidence:
		r.Verdict, r.Confidence = Meets, opt.Of(met)
	case missed >= DefaultConfidence:
		r.Verdict, r.Confidence = Fails, opt.Of(missed)
	case r.within(allowed):
		r.Verdict, r.Confidence = SeemsMeets, opt.Of(met)
	default:
		r.Verdict, r.Confidence = SeemsFails, opt.Of(missed)
	}
	return r
}

// Batches counts gaps by batches: the streams in flight get their tokens together, so that their
// gaps are one sample.
func Batches(over, n int, inFlight float64) (batchesOver, batches int) {
	share := max(1, inFlight)
	return int(math.Ceil(float64(over) / share)), int(float64(n) / share)
}

// within reports whether the samples as they are meet the target.
func (r *Result) within(allowed float64) bool {
	const rounding = 1e-9 // of the interpolation between two samples
	switch {
	case !r.Actual.OK:
		return float64(r.Over) <= allowed*float64(r.N)
	case r.Target.Metric == Success:
		return r.Actual.V >= r.Target.SuccessShare*(1-rounding)
	}
	return r.Actual.V <= r.Target.LimitMS*(1+rounding)
}

// Together is the verdict on all targets. All have to be met: that each is, at its
// confidence, says with the same confidence that all are (an intersection-union test, Berger
// 1982).
func Together(results []Result) Verdict {
	worst := NotJudged
	for i := range results {
		v := results[i].Verdict
		if v == NotJudged {
			return NotJudged
		}
		if worst == NotJudged || v < worst {
			worst = v
		}
	}
	return worst
}

// Confidence is that of the least sure result; unknown if one has none.
func Confidence(results []Result) opt.Float {
	var least opt.Float
	for i := range results {
		c := results[i].Confidence
		if !c.OK {
			return opt.Float{}
		}
		if i == 0 || c.V < least.V {
			least = c
		}
	}
	return least
}

// Enough is how many samples a target takes until one that no sample misses is met with
// confidence.
func (t *Target) Enough() int {
	share := t.Share()
	if share <= 0 || share >= 1 {
		return 1
	}
	return int(math.Ceil(math.Log(1-DefaultConfidence) / math.Log(share)))
}

// binomialAtMost is P(X ≤ k) for X binomial with n trials of chance p. Terms follow
// from one another in logarithms, so that no n overflows.
func binomialAtMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	odds := math.Log(p) - math.Log1p(-p)
	term := float64(n) * math.Log1p(-p) // of no success
	sum := math.Exp(term)
	for i := range k {
		term += odds + math.Log(float64(n-i)/float64(i+1))
		sum += math.Exp(term)
	}
	return min(sum, 1)
}
