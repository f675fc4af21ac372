package sweep

import (
	"math"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// SLO is one service level.
type SLO = slo.Target

// metricSuccess names the SLO on the share of requests that succeed.
const metricSuccess = "success"

// Value is what one request has to show for an SLO, in milliseconds. A figure that
// it cannot have, such as the TPOT of a single token, is absent; the gap is the
// asked quantile of the request's own gaps.
func Value(r *measure.Request, s SLO) (ms float64, ok bool) {
	switch s.Metric {
	case "ttft":
		return r.TTFT()
	case "ttfa":
		return r.TTFA()
	case "tpot":
		return r.TPOT()
	case "e2e":
		return r.E2E()
	case "from_schedule":
		return r.FromSchedule()
	case "client_queue":
		return r.ClientQueue(), true
	case "setup":
		return r.Setup.Seconds() * 1000, true
	case "gap":
		own := measure.NewDist(len(r.GapsMS))
		for _, gap := range r.GapsMS {
			own.Add(float64(gap))
		}
		return own.Quantile(s.Quantile)
	}
	return 0, false
}

// Good tells whether a request that succeeded meets every SLO; a figure that it
// cannot have cannot be missed.
func Good(r *measure.Request, slos []SLO) bool {
	for _, s := range slos {
		if ms, ok := Value(r, s); ok && ms > s.LimitMS {
			return false
		}
	}
	return true
}

// Verdict is how a load stands to its service levels.
type Verdict int

// Verdicts. Seems… are what the samples say as they are, too few for the confidence
// that is asked.
const (
	NotJudged  Verdict = iota // no SLO, or no sample
	Fails                     // with confidence
	SeemsFails                // the samples miss it
	SeemsMeets                // the samples meet it
	Meets                     // with confidence
)

// Met tells whether the samples as they are meet the levels.
func (v Verdict) Met() bool { return v >= SeemsMeets }

// doubted is the verdict on figures that may still change.
func (v Verdict) doubted() Verdict {
	switch v {
	case Meets:
		return SeemsMeets
	case Fails:
		return SeemsFails
	}
	return v
}

// Decided tells whether there are samples enough for the confidence asked.
func (v Verdict) Decided() bool { return v == Fails || v == Meets }

// String is the verdict in a word or two.
func (v Verdict) String() string {
	return [...]string{"", "fails", "seems to fail", "seems to meet", "meets"}[v]
}

// SLOResult is how one service level came out at one load.
type SLOResult struct {
	SLO     SLO
	Actual  opt.Float // milliseconds; for "success" the share
	N       int       // independent samples behind it
	Over    int       // of these beyond the limit; for "success" failures
	Verdict Verdict
	// Confidence is how sure the verdict is, 0 to 1: for a level that is met, that the true
	// quantile is within the limit; for one that is missed, that it is beyond.
	Confidence opt.Float
}

// DefaultConfidence is what a verdict needs unless the plan says otherwise.
const DefaultConfidence = 0.95

// judgeShare judges a level by n samples of which over are beyond the limit, where
// the level allows a share of them. Nothing is assumed about the distribution: the number of
// samples beyond the true (1−allowed)-quantile is binomial, so that
//
//	P(at most `over` of n beyond) = Σ_{i ≤ over} C(n,i)·allowedⁱ·(1−allowed)ⁿ⁻ⁱ
//
// is how likely so good a sample is at a service that just misses the level. One minus that
// is the confidence that the level is met: the same as the limit lying above the upper one-sided
// confidence bound of the quantile from order statistics (Hahn and Meeker, Statistical
// Intervals, 5.2; Clopper and Pearson 1934 for the share). With none beyond, 95 % take
// ln 0.05 / ln(1−allowed) samples: 59 for a p95, 299 for a p99.
//
// Requests of one server are not quite independent of each other, so that the true
// confidence is a little less.
func judgeShare(over, n int, allowed, confidence float64) (Verdict, opt.Float) {
	if n == 0 {
		return NotJudged, opt.Float{}
	}
	if allowed <= 0 { // no sample can prove that there is nothing beyond
		if over > 0 {
			return Fails, opt.Of(1)
		}
		return SeemsMeets, opt.Float{}
	}
	met := 1 - binomialAtMost(over, n, allowed)
	missed := binomialAtMost(over-1, n, allowed)
	switch {
	case met >= confidence:
		return Meets, opt.Of(met)
	case missed >= confidence:
		return Fails, opt.Of(missed)
	case float64(over) <= allowed*float64(n):
		return SeemsMeets, opt.Of(met)
	}
	return SeemsFails, opt.Of(missed)
}

// together is the verdict on all levels. All have to be met: that each is, at its
// confidence, tells with the same confidence that all are (an intersection-union
// test, Berger 1982).
func together(results []SLOResult) Verdict {
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

// Enough is how many samples a percentile takes until a level that nobody misses is
// met with the confidence.
func Enough(quantile, confidence float64) int {
	if quantile <= 0 || quantile >= 1 {
		return 1
	}
	return int(math.Ceil(math.Log(1-confidence) / math.Log(quantile)))
}

// share is the part of the requests that has to be within a level.
func share(s SLO) float64 {
	if s.Metric == metricSuccess {
		return s.SuccessShare
	}
	return s.Quantile
}

// results judges what a stretch has gathered.
func (s *stretch) results(confidence float64) []SLOResult {
	out := make([]SLOResult, 0, len(s.slos))
	for i, level := range s.slos {
		out = append(out, s.result(level, s.judged[i], confidence))
	}
	return out
}

func (s *stretch) result(level SLO, c tally, confidence float64) SLOResult {
	r := SLOResult{SLO: level, N: c.n, Over: c.over}
	if level.Metric == metricSuccess {
		r.N, r.Over = s.ok+s.failed, s.failed
		if r.N > 0 {
			r.Actual = opt.Of(float64(s.ok) / float64(r.N))
		}
	} else if d := s.latency.Of(level.Metric); d != nil {
		if ms, ok := d.Quantile(level.Quantile); ok {
			r.Actual = opt.Of(ms)
		}
	}
	if level.Metric == "gap" { // the streams of a batch get their tokens together
		share := max(1, s.inFlight.Mean().Or(1))
		r.N, r.Over = int(float64(c.n)/share), int(math.Ceil(float64(c.over)/share))
	}
	r.Verdict, r.Confidence = judgeShare(r.Over, r.N, 1-share(level), confidence)
	if !s.settled {
		r.Verdict = r.Verdict.doubted()
	}
	return r
}

// tally counts samples and those beyond the limit.
type tally struct{ n, over int }

// count takes a request into the tally of a level.
func (c *tally) count(r *measure.Request, s SLO) {
	if s.Metric == "gap" { // every gap counts, not one figure per request
		for _, ms := range r.GapsMS {
			c.add(float64(ms) > s.LimitMS)
		}
		return
	}
	if ms, ok := Value(r, s); ok {
		c.add(ms > s.LimitMS)
	}
}

func (c *tally) add(over bool) {
	c.n++
	if over {
		c.over++
	}
}
