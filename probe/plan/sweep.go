package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/slo"
)

// summarySchema names the form of the files that `sonde bench` and `sonde sweep`
// write.
const summarySchema = "sonde/summary/1"

// Sweep is what a file of measured levels says.
type Sweep struct {
	Levels []Level `json:"levels"`
	single bool    // a Summary of one load: nothing points at a level
	// Best and Knee are levels that the sweep itself points at; nil if it does not.
	Best *Mark `json:"best_within_slo"`
	Knee *Mark `json:"knee"`
}

// Level is one load of the sweep, in the keys of the Summary.
type Level struct {
	Load struct {
		Concurrency opt.Float `json:"concurrency"`
		Rate        opt.Float `json:"rate"` // requests per second; unknown in the closed loop
	} `json:"load"`
	Requests struct {
		OK     opt.Float `json:"ok"`
		Failed opt.Float `json:"failed"`
	} `json:"requests"`
	Tokens struct {
		Input  opt.Float `json:"input"`
		Output opt.Float `json:"output"`
	} `json:"tokens"`
	LatencyMS map[string]Quantiles `json:"latency_ms"`
	Rates     struct {
		RequestsPerS opt.Float `json:"requests_per_s"`
		InputPerS    opt.Float `json:"input_tokens_per_s"`
		OutputPerS   opt.Float `json:"output_tokens_per_s"`
	} `json:"rates"`
	Concurrency opt.Float `json:"concurrency_mean"`
	SLO         []struct {
		Met *bool `json:"met"`
	} `json:"slo"`
	Settled *bool `json:"settled"` // nil: a bench, which has no other level to settle from
}

// Quantiles are what a Summary tells of a latency, ms.
type Quantiles struct {
	Mean opt.Float `json:"mean"`
	P50  opt.Float `json:"p50"`
	P90  opt.Float `json:"p90"`
	P95  opt.Float `json:"p95"`
	P99  opt.Float `json:"p99"`
	P999 opt.Float `json:"p999"`
	Max  opt.Float `json:"max"`
}

// Mark names a level by its load.
type Mark struct {
	Concurrency opt.Float `json:"concurrency"`
	Rate        opt.Float `json:"rate"`
	Says        string    `json:"says"` // how sure the sweep is of it
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
	if form.Schema != summarySchema {
		return nil, fmt.Errorf("not a file from sonde sweep: its schema must be %q", summarySchema)
	}
	s := &Sweep{}
	var err error
	if form.Levels == nil {
		s.single, s.Levels = true, make([]Level, 1)
		err = json.Unmarshal(raw, &s.Levels[0])
	} else {
		err = json.Unmarshal(raw, s)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged file from sonde sweep: %w", err)
	}
	s.Levels = slices.DeleteFunc(s.Levels, func(l Level) bool { return !(l.Rates.RequestsPerS.V > 0) || !(l.Requests.OK.V > 0) })
	if len(s.Levels) == 0 {
		return nil, errors.New("no request succeeded at any level")
	}
	return s, nil
}

// lengths are the mean prompt and answer that succeeded, tokens.
func (l *Level) lengths() (input, output opt.Float) {
	n := 1 / l.Requests.OK.V
	return l.Tokens.Input.Scale(n), l.Tokens.Output.Scale(n)
}

// name tells the level apart from the others.
func (l *Level) name() string {
	if l.Load.Rate.OK {
		return fmt.Sprintf("rate %g", l.Load.Rate.V)
	}
	return fmt.Sprintf("concurrency %.0f", l.Load.Concurrency.V)
}

// chosen is the level that a replica may run at, and why it is that one: the
// busiest that meets the service levels; without any, the one at the knee; without
// a knee the busiest. None may meet them.
func (s *Sweep) chosen(asked []slo.Target) (l *Level, why string, err error) {
	if len(asked) > 0 {
		var met []Level
		for _, l := range s.Levels {
			ok, err := l.meets(asked)
			if err != nil {
				return nil, "", err
			}
			if ok && (l.Settled == nil || *l.Settled) {
				met = append(met, l)
			}
		}
		return busiest(met), "the busiest within the SLO", nil
	}
	hasSLO := slices.ContainsFunc(s.Levels, func(l Level) bool { return len(l.SLO) > 0 })
	switch {
	case s.Best != nil && s.at(s.Best) != nil:
		return s.at(s.Best), "the largest load within the SLO", nil
	case hasSLO && s.single:
		met := slices.DeleteFunc(slices.Clone(s.Levels), func(l Level) bool { return !l.metAll() })
		return busiest(met), "the only load, within its SLO", nil
	case hasSLO:
		return nil, "", nil // the sweep had more to judge by than its figures tell
	case s.Knee != nil && s.at(s.Knee) != nil:
		return s.at(s.Knee), "the knee: the sweep had no SLO", nil
	}
	return busiest(s.Levels), "the busiest: the sweep had no SLO and found no knee", nil
}

// at finds a marked level; nil if there is none.
func (s *Sweep) at(m *Mark) *Level {
	for i := range s.Levels {
		l := &s.Levels[i].Load
		if m.Rate.OK && m.Rate == l.Rate || !m.Rate.OK && !l.Rate.OK && m.Concurrency.OK && m.Concurrency == l.Concurrency {
			return &s.Levels[i]
		}
	}
	return nil
}

func busiest(levels []Level) *Level {
	if len(levels) == 0 {
		return nil
	}
	best := 0
	for i := range levels {
		if levels[i].Rates.RequestsPerS.V > levels[best].Rates.RequestsPerS.V {
			best = i
		}
	}
	return &levels[best]
}

// metAll tells whether the level met every service level of the sweep; one that
// nobody could judge is not met.
func (l *Level) metAll() bool {
	for _, s := range l.SLO {
		if s.Met == nil || !*s.Met {
			return false
		}
	}
	return len(l.SLO) > 0
}

// meets reports whether a measured level meets every service level. A latency that
// the level does not have is not met. An error names a percentile that files of
// sweeps do not hold.
func (l *Level) meets(all []slo.Target) (bool, error) {
	if !slices.ContainsFunc(all, func(s slo.Target) bool { return s.Metric == slo.Success }) && l.failsMuch() {
		return false, nil
	}
	for _, s := range all {
		if s.Metric == slo.Success {
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

// failsMuch reports whether a sweep would call this overload: many requests failed,
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
