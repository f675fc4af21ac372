package plan

import (
	"fmt"
	"slices"

	"sonde/probe/opt"
)

// SLO is one service level to judge measured levels by.
type SLO struct {
	Metric       string  // a latency of the Summary, or "success"
	Quantile     float64 // 0 to 1; not for "success"
	LimitMS      float64 // not for "success"
	SuccessShare float64 // 0 to 1; only for "success"
	Text         string  // as it was asked for
}

// meets tells whether a measured level meets every service level. A latency that
// the level does not have is not met. An error names a percentile that files of
// sweeps do not hold.
func (l *Level) meets(all []SLO) (bool, error) {
	if !slices.ContainsFunc(all, func(s SLO) bool { return s.Metric == "success" }) && l.failsMuch() {
		return false, nil
	}
	for _, s := range all {
		if s.Metric == "success" {
			if total := l.Requests.OK.V + l.Requests.Failed.V; l.Requests.OK.V < s.SuccessShare*total {
				return false, nil
			}
			continue
		}
		actual, held := l.LatencyMS[s.Metric].at(s.Quantile)
		if !held {
			return false, fmt.Errorf("%s cannot be judged: the file of a sweep holds p50, p90, p95, p99, p99.9 and p100", s.Text)
		}
		if !actual.OK || actual.V > s.LimitMS {
			return false, nil
		}
	}
	return true, nil
}

// failsMuch tells that so many requests failed that a sweep takes the load for too much:
// more than a tenth, and not by chance.
func (l *Level) failsMuch() bool {
	ok, failed := l.Requests.OK.V, l.Requests.Failed.V
	return failed >= 5 && failed > 0.1*(ok+failed)
}

// at is the q-quantile, if it is one of those that a file holds.
func (q Quantiles) at(quantile float64) (opt.Float, bool) {
	for _, held := range []struct {
		quantile float64
		value    opt.Float
	}{{0.5, q.P50}, {0.9, q.P90}, {0.95, q.P95}, {0.99, q.P99}, {0.999, q.P999}, {1, q.Max}} {
		if d := held.quantile - quantile; d < 1e-9 && d > -1e-9 {
			return held.value, true
		}
	}
	return opt.Float{}, false
}
