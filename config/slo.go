package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SLO is one service level: a latency quantile with its limit, or, for the
// metric "success", the least share of requests that succeed.
type SLO struct {
	Metric   string        // one of sloMetrics, or "success"
	Quantile float64       // 0 to 1; 0 for "success"
	Limit    time.Duration // 0 for "success"
	Share    float64       // 0 to 1; only for "success"
	Text     string        // as it was asked for, such as "ttft_p95=2s"
}

// sloMetrics are the latencies of the summary, by their names there.
var sloMetrics = []string{"ttft", "ttfa", "tpot", "gap", "e2e", "setup", "client_queue", "from_schedule"}

const sloSuccess = "success"

// ParseSLO reads a list such as "ttft_p95=2s,tpot_p95=40ms,success=99.9". The
// quantile is a percentile ("p99.9", also "p999"), success is in percent. An
// empty list is none. Errors name the faulty part.
func ParseSLO(list string) ([]SLO, error) {
	var all []SLO
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		s, problem := parseLevel(part)
		if problem != "" {
			return nil, fmt.Errorf("%q %s", part, problem)
		}
		same := func(o SLO) bool { return o.Metric == s.Metric && o.Quantile == s.Quantile }
		if slices.ContainsFunc(all, same) {
			return nil, fmt.Errorf("%q is given twice", part)
		}
		all = append(all, s)
	}
	return all, nil
}

// parseLevel reads one part; the problem is "" if there is none.
func parseLevel(part string) (s SLO, problem string) {
	name, limit, found := strings.Cut(part, "=")
	if !found {
		return s, "must look like ttft_p95=2s or success=99.9"
	}
	name, limit = strings.TrimSpace(name), strings.TrimSpace(limit)
	s.Text = name + "=" + limit
	if name == sloSuccess {
		s.Metric = name
		s.Share, problem = parseShare(limit)
		return s, problem
	}
	if s.Metric, s.Quantile, problem = parseQuantile(name); problem != "" {
		return s, problem
	}
	var err error
	if s.Limit, err = time.ParseDuration(limit); err != nil || s.Limit <= 0 {
		return s, "needs a time with its unit, such as 2s or 40ms"
	}
	return s, ""
}

// parseQuantile splits "ttft_p95" into the metric and 0.95.
func parseQuantile(name string) (metric string, quantile float64, problem string) {
	cut := strings.LastIndex(name, "_p")
	metric = name[:max(cut, 0)]
	if cut < 0 || !slices.Contains(sloMetrics, metric) {
		return "", 0, "must name a latency and its percentile, such as ttft_p95: " +
			strings.Join(sloMetrics, ", ") + "; or success"
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

func joinSLO(all []SLO) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, s.Text)
	}
	return strings.Join(parts, ",")
}
