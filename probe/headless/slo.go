package headless

import (
	"slices"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// sloJudge counts the requests that meet every SLO.
type sloJudge struct {
	slos         []SLO
	good, judged int
	goodInWindow float64 // by their share in the window
}

// add takes a request. A failure is no good request, but it counts among the
// judged ones; a request of the warm-up is not judged, but has its share in the
// goodput as it has in all rates.
func (j *sloJudge) add(r *measure.Request, share float64, measured bool) {
	if len(j.slos) == 0 || r.Class == measure.Cancelled || r.Excluded {
		return
	}
	if measured {
		j.judged++
	}
	if r.Class != measure.OK || !j.meetsAll(r) {
		return
	}
	j.goodInWindow += share
	if measured {
		j.good++
	}
}

func (j *sloJudge) meetsAll(r *measure.Request) bool {
	return !slices.ContainsFunc(j.slos, func(s SLO) bool {
		v, ok := requestValue(r, s)
		return ok && v > s.LimitMS
	})
}

// requestValue is what one request has to show for an SLO. A figure that it
// cannot have, such as the TPOT of a single token, cannot be missed.
func requestValue(r *measure.Request, s SLO) (ms float64, ok bool) {
	switch s.Metric {
	case "ttft":
		return r.TTFT()
	case "ttfa":
		return r.TTFA()
	case "tpot":
		return r.TPOT()
	case "e2e":
		return r.E2E()
	case "gap":
		own := measure.NewDist(len(r.GapsMS))
		for _, gap := range r.GapsMS {
			own.Add(float64(gap))
		}
		return own.Quantile(s.Quantile)
	}
	return 0, false
}

// results judges the run as a whole.
func (j *sloJudge) results(l *latencies, success opt.Float) []SLOResult {
	out := make([]SLOResult, 0, len(j.slos))
	for _, s := range j.slos {
		out = append(out, judge(s, l, success))
	}
	return out
}

func judge(s SLO, l *latencies, success opt.Float) SLOResult {
	res := SLOResult{SLO: s.Text, Metric: s.Metric}
	if s.Metric == metricSuccess {
		res.Limit, res.Actual = number(opt.Of(s.SuccessShare)), share(success)
		res.Met = verdict(success, func(v float64) bool { return v >= s.SuccessShare })
		return res
	}
	actual := opt.Float{}
	if d := l.of(s.Metric); d != nil {
		if v, ok := d.Quantile(s.Quantile); ok {
			actual = opt.Of(v)
		}
	}
	res.Quantile = number(opt.Of(s.Quantile))
	res.Limit, res.Actual = number(opt.Of(s.LimitMS)), number(actual)
	res.Met = verdict(actual, func(v float64) bool { return v <= s.LimitMS })
	return res
}

func verdict(v opt.Float, holds func(float64) bool) *bool {
	if !v.OK {
		return nil
	}
	met := holds(v.V)
	return &met
}
