package slo

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := Parse("ttft_p95=2s, tpot_p50 = 40ms,e2e_p999=60s,client_queue_p99.9=1ms,gap_p100=1m,success=99.9")
	want := []Target{
		{Metric: "ttft", Quantile: 0.95, LimitMS: 2000, Text: "ttft_p95=2s"},
		{Metric: "tpot", Quantile: 0.5, LimitMS: 40, Text: "tpot_p50=40ms"},
		{Metric: "e2e", Quantile: 0.999, LimitMS: 60000, Text: "e2e_p999=60s"},
		{Metric: "client_queue", Quantile: 0.999, LimitMS: 1, Text: "client_queue_p99.9=1ms"},
		{Metric: "gap", Quantile: 1, LimitMS: 60000, Text: "gap_p100=1m"},
		{Metric: "success", SuccessShare: 0.999, Text: "success=99.9"},
	}
	near := func(a, b Target) bool {
		same := math.Abs(a.Quantile-b.Quantile) < 1e-12 && math.Abs(a.SuccessShare-b.SuccessShare) < 1e-12
		a.Quantile, a.SuccessShare = b.Quantile, b.SuccessShare
		return same && a == b
	}
	if err != nil || !slices.EqualFunc(got, want, near) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := Parse(" "); got != nil || err != nil {
		t.Errorf("empty: %v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
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
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}

// Whatever is accepted is within its ranges and means the same when written again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ttft_p95=2s,tpot_p95=40ms,e2e_p95=60s,success=99.9", "gap_p999=1h", "success=99%", "_p=,", "ttft_p1e400=1s", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, err := Parse(list)
		if err != nil {
			if all != nil {
				t.Errorf("%q: both %v and %v", list, all, err)
			}
			return
		}
		for _, s := range all {
			if success := s.Metric == Success; success != (s.SuccessShare > 0) || success == (s.Quantile > 0) || success == (s.LimitMS > 0) {
				t.Errorf("%q: %+v", list, s)
			}
			if !(s.Quantile <= 1) || !(s.SuccessShare <= 1) {
				t.Errorf("%q: %+v is out of range", list, s)
			}
		}
		again, err := Parse(Join(all))
		if err != nil || !slices.Equal(all, again) {
			t.Errorf("%q became %v, %v", list, again, err)
		}
	})
}
