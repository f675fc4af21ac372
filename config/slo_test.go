package config

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseSLO(t *testing.T) {
	got, err := ParseSLO("ttft_p95=2s, tpot_p50 = 40ms,e2e_p999=60s,client_queue_p99.9=1ms,gap_p100=1m,success=99.9")
	want := []SLO{
		{Metric: "ttft", Quantile: 0.95, Limit: 2 * time.Second, Text: "ttft_p95=2s"},
		{Metric: "tpot", Quantile: 0.5, Limit: 40 * time.Millisecond, Text: "tpot_p50=40ms"},
		{Metric: "e2e", Quantile: 0.999, Limit: time.Minute, Text: "e2e_p999=60s"},
		{Metric: "client_queue", Quantile: 0.999, Limit: time.Millisecond, Text: "client_queue_p99.9=1ms"},
		{Metric: "gap", Quantile: 1, Limit: time.Minute, Text: "gap_p100=1m"},
		{Metric: "success", Share: 0.999, Text: "success=99.9"},
	}
	near := func(a, b SLO) bool {
		same := math.Abs(a.Quantile-b.Quantile) < 1e-12 && math.Abs(a.Share-b.Share) < 1e-12
		a.Quantile, a.Share = b.Quantile, b.Share
		return same && a == b
	}
	if err != nil || !slices.EqualFunc(got, want, near) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := ParseSLO(" "); got != nil || err != nil {
		t.Errorf("empty: %v, %v", got, err)
	}
}

func TestParseSLORefuses(t *testing.T) {
	for list, want := range map[string]string{
		"ttft_p95":                        "must look like",
		"ttft=2s":                         "must name a latency and its percentile",
		"foo_p95=2s":                      "must name a latency and its percentile",
		"_p95=2s":                         "must name a latency and its percentile",
		"ttft_p95=2s,":                    "must look like",
		"ttft_p95=2":                      "needs a time with its unit",
		"ttft_p95=-2s":                    "needs a time with its unit",
		"ttft_p95=0s":                     "needs a time with its unit",
		"ttft_p=2s":                       "needs a percentile",
		"ttft_p0=2s":                      "needs a percentile above 0",
		"ttft_p100.5=2s":                  "needs a percentile above 0",
		"ttft_p1e1=2s":                    "needs a percentile",
		"ttft_pNaN=2s":                    "needs a percentile",
		"success=0.999":                   "must be in percent",
		"success=101":                     "must be in percent",
		"success=NaN":                     "must be in percent",
		"success=99,success=98":           "is given twice",
		"ttft_p99.9=2s,ttft_p999=3s":      "is given twice",
		"ttft_p95=2s,tpot_p95=forty,x=ok": `"tpot_p95=forty" needs a time`,
	} {
		if _, err := ParseSLO(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}

// Whatever is accepted is within its ranges and means the same when written again.
func FuzzParseSLO(f *testing.F) {
	for _, s := range []string{"ttft_p95=2s,tpot_p95=40ms,e2e_p95=60s,success=99.9", "gap_p999=1h", "success=99%", "_p=,", "ttft_p1e400=1s", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, err := ParseSLO(list)
		if err != nil {
			if all != nil {
				t.Errorf("%q: both %v and %v", list, all, err)
			}
			return
		}
		for _, s := range all {
			if success := s.Metric == sloSuccess; success != (s.Share > 0) || success == (s.Quantile > 0) || success == (s.Limit > 0) {
				t.Errorf("%q: %+v", list, s)
			}
			if !(s.Quantile <= 1) || !(s.Share <= 1) {
				t.Errorf("%q: %+v is out of range", list, s)
			}
		}
		again, err := ParseSLO(joinSLO(all))
		if err != nil || !slices.Equal(all, again) {
			t.Errorf("%q became %v, %v", list, again, err)
		}
	})
}
