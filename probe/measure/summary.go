package measure

import "sonde/probe/opt"

// Summary describes a set of latency samples. All values are milliseconds; with
// N == 0 there is no value and the others mean nothing.
type Summary struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Std  float64 `json:"std,omitempty"` // standard deviation
}

// WeakBelow tells from how many samples on a percentile means something: a p99
// of 20 samples is only their maximum.
const (
	weakBelowP90  = 10
	weakBelowP99  = 100
	weakBelowP999 = 1000
)

// Weak lists the percentiles that have too few samples behind them, by their
// JSON names.
func (s Summary) Weak() []string {
	weak := []string{}
	if s.N < weakBelowP90 {
		weak = append(weak, "p90", "p95")
	}
	if s.N < weakBelowP99 {
		weak = append(weak, "p99")
	}
	if s.N < weakBelowP999 {
		weak = append(weak, "p999")
	}
	return weak
}

// Value gives v as known only if there are samples.
func (s Summary) Value(v float64) opt.Float {
	if s.N == 0 {
		return opt.Float{}
	}
	return opt.Of(v)
}
