package plan

import (
	"errors"
	"fmt"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/slo"
)

// Sweep is what a file of measured levels holds.
type Sweep struct{ *report.File }

// ReadSweep reads what `sonde sweep` wrote as JSON. The Summary of `sonde bench`
// is a sweep of one level.
func ReadSweep(raw []byte) (*Sweep, error) {
	file, err := report.ReadFile(raw)
	if err != nil {
		return nil, err
	}
	s := &Sweep{file}
	s.Levels = slices.DeleteFunc(s.Levels, func(l report.Level) bool { return !(l.Rates.RequestsPerS.V > 0) || l.Requests.OK == 0 })
	if len(s.Levels) == 0 {
		return nil, errors.New("no request succeeded at any level")
	}
	return s, nil
}

// lengths are the mean prompt and answer that succeeded, tokens.
func lengths(l *report.Level) (input, output opt.Float) {
	n := float64(l.Requests.OK)
	return l.Tokens.Input.Scale(1 / n), opt.Of(float64(l.Tokens.Output) / n)
}

// chosen is the level that a replica may run at, and why it is that one: the
// busiest that meets the SLOs; without any, the one at the knee; without
// a knee the busiest. None may meet them.
func (s *Sweep) chosen(slos []slo.Target) (l *report.Level, why string, err error) {
	if len(slos) > 0 {
		var met []report.Level
		for i := range s.Levels {
			ok, err := meets(&s.Levels[i], slos)
			if err != nil {
				return nil, "", err
			}
			if ok && s.Levels[i].Settled {
				met = append(met, s.Levels[i])
			}
		}
		return busiest(met), "the busiest within the SLO", nil
	}
	hasSLO := slices.ContainsFunc(s.Levels, func(l report.Level) bool { return len(l.SLO) > 0 })
	switch {
	case s.Best != nil && s.At(s.Best.Mark) != nil:
		return s.At(s.Best.Mark), "the largest load within the SLO", nil
	case hasSLO && s.Single && metAll(&s.Levels[0]):
		return &s.Levels[0], "the only load, within its SLO", nil
	case hasSLO:
		return nil, "", nil // the sweep had more to judge by than its figures show
	case s.Knee != nil && s.At(s.Knee.Mark) != nil:
		return s.At(s.Knee.Mark), "the knee: the sweep had no SLO", nil
	}
	return busiest(s.Levels), "the busiest: the sweep had no SLO and found no knee", nil
}

func busiest(levels []report.Level) *report.Level {
	var best *report.Level
	for i := range levels {
		if l := &levels[i]; best == nil || l.Rates.RequestsPerS.V > best.Rates.RequestsPerS.V {
			best = l
		}
	}
	return best
}

// metAll reports whether the level met every SLO of its run; one that could not be judged is
// not met.
func metAll(l *report.Level) bool {
	return !slices.ContainsFunc(l.SLO, func(r report.SLOResult) bool { return r.Met == nil || !*r.Met })
}

// meets reports whether a measured level meets every SLO. A latency that
// the level does not have is not met. An error names a percentile that files of
// sweeps do not hold.
func meets(l *report.Level, slos []slo.Target) (bool, error) {
	isSuccess := func(s slo.Target) bool { return s.Metric == slo.Success }
	if !slices.ContainsFunc(slos, isSuccess) && l.Requests.FailsMuch() {
		return false, nil
	}
	for _, s := range slos {
		if isSuccess(s) {
			if ok := float64(l.Requests.OK); ok < s.SuccessShare*(ok+float64(l.Requests.Failed)) {
				return false, nil
			}
			continue
		}
		actual, held := l.Latency(s.Metric).Quantile(s.Quantile)
		if !held {
			return false, fmt.Errorf("%s cannot be judged: the file of a sweep holds p50, p90, p95, p99, p99.9 and p100", s.Text)
		}
		if !actual.OK || actual.V > s.LimitMS {
			return false, nil
		}
	}
	return true, nil
}
