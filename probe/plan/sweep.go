package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/slo"
)

// Sweep is what a file of measured levels holds.
type Sweep struct {
	report.SweepSummary
	single bool // a Summary of one load: nothing points at a level
}

// ReadSweep reads what `sonde sweep` wrote as JSON. The Summary of `sonde bench`
// is a sweep of one level.
func ReadSweep(raw []byte) (*Sweep, error) {
	var form struct {
		Schema string          `json:"schema"`
		Levels json.RawMessage `json:"levels"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, errors.New("not a JSON file from sonde sweep (--format json)")
	}
	if form.Schema != report.Schema {
		return nil, fmt.Errorf("not a file from sonde sweep: its schema must be %q", report.Schema)
	}
	s := &Sweep{single: form.Levels == nil}
	var err error
	if s.single {
		s.Levels = []report.Level{{Settled: true}} // it has no other level to settle from
		err = json.Unmarshal(raw, &s.Levels[0])
	} else {
		err = json.Unmarshal(raw, &s.SweepSummary)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged file from sonde sweep: %w", err)
	}
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
	case hasSLO && s.single && metAll(&s.Levels[0]):
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
