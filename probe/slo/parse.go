package slo

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/probe/measure"
)

// Parse reads a list such as "ttft_p95=2s,tpot_p95=40ms,success=99.9". The
// quantile is a percentile ("p99.9", also "p999"), success is in percent. An
// empty list is none. Errors name the faulty part.
func Parse(list string) ([]Target, error) {
	var all []Target
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		t, problem := parseTarget(part)
		if problem != "" {
			return nil, fmt.Errorf("%q %s", part, problem)
		}
		same := func(o Target) bool { return o.Metric == t.Metric && o.Quantile == t.Quantile }
		if slices.ContainsFunc(all, same) {
			return nil, fmt.Errorf("%q is given twice", part)
		}
		all = append(all, t)
	}
	return all, nil
}

// parseTarget reads one part; the problem is "" if there is none.
func parseTarget(part string) (t Target, problem string) {
	name, limit, found := strings.Cut(part, "=")
	if !found {
		return t, "must look like ttft_p95=2s or success=99.9"
	}
	name, limit = strings.TrimSpace(name), strings.TrimSpace(limit)
	t.Text = name + "=" + limit
	if name == Success {
		t.Metric = name
		t.SuccessShare, problem = parseShare(limit)
		return t, problem
	}
	if t.Metric, t.Quantile, problem = parseQuantile(name); problem != "" {
		return t, problem
	}
	most, err := time.ParseDuration(limit)
	if err != nil || most <= 0 {
		return t, "needs a time with its unit, such as 2s or 40ms"
	}
	t.LimitMS = float64(most) / float64(time.Millisecond)
	return t, ""
}

// parseQuantile splits "ttft_p95" into the metric and 0.95.
func parseQuantile(name string) (metric string, quantile float64, problem string) {
	cut := strings.LastIndex(name, "_p")
	metric = name[:max(cut, 0)]
	if cut < 0 || measure.MetricNamed(metric) < 0 {
		problem = "must name a latency and its percentile, such as ttft_p95: "
		for _, m := range measure.Metrics {
			problem += m.Name + ", "
		}
		return "", 0, strings.TrimSuffix(problem, ", ") + "; or success"
	}
	digits := name[cut+2:]
	percent, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Trim(digits, "0123456789.") != "" {
		return "", 0, "needs a percentile, such as p50, p95 or p99.9"
	}
	for !strings.Contains(digits, ".") && percent > 100 { // p999 is p99.9
		percent /= 10
	}
	if percent <= 0 || percent > 100 {
		return "", 0, "needs a percentile above 0 and up to 100"
	}
	return metric, percent / 100, ""
}

// parseShare reads percent; shares written as 0.999 would be met by any run.
func parseShare(s string) (share float64, problem string) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || math.IsNaN(percent) || percent < 1 || percent > 100 {
		return 0, "must be in percent, 1 to 100, such as success=99.9"
	}
	return percent / 100, ""
}

// Join is the list that Parse reads as these targets.
func Join(all []Target) string {
	var parts []string
	for _, t := range all {
		parts = append(parts, t.Text)
	}
	return strings.Join(parts, ",")
}
