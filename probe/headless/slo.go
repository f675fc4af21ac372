package headless

import (
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/sweep"
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
	if r.Class != measure.OK || !sweep.Good(r, j.slos) {
		return
	}
	j.goodInWindow += share
	if measured {
		j.good++
	}
}

// results judges the run as a whole.
func (j *sloJudge) results(l *measure.Latencies, success opt.Float) []SLOResult {
	out := make([]SLOResult, 0, len(j.slos))
	for _, s := range j.slos {
		out = append(out, judge(s, l, success))
	}
	return out
}

func judge(s SLO, l *measure.Latencies, success opt.Float) SLOResult {
	res := SLOResult{SLO: s.Text, Metric: s.Metric}
	if s.Metric == metricSuccess {
		res.Limit, res.Actual = number(opt.Of(s.SuccessShare)), share(success)
		res.Met = verdict(success, func(v float64) bool { return v >= s.SuccessShare })
		return res
	}
	actual := opt.Float{}
	if d := l.Of(s.Metric); d != nil {
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
