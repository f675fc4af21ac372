package diagnose

import (
	"strings"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// underSLO is the scene with a service level.
func underSLO(s SLO, change func(f *frame.Frame)) *Judge {
	j := scene(change)
	j.SetSLOs([]SLO{s})
	return j
}

func latencySLO(text, metric string, q, ms float64) SLO {
	return SLO{Text: text, Metric: metric, Quantile: q, LimitMS: ms}
}

func TestSLOMissed(t *testing.T) {
	// p95 of TTFT is 240 ms, p99 300 ms; p50 of TPOT is 10 ms.
	only(t, underSLO(latencySLO("ttft_p95=230ms", "ttft", 0.95, 230), nil), "slo", Bad, "SLO ttft_p95=230ms is missed: 240 ms, n 120")
	only(t, underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), nil), "slo", Bad, "SLO ttft_p99=299ms is missed: 300 ms, n 120")
	only(t, underSLO(latencySLO("tpot_p50=9ms", "tpot", 0.5, 9), nil), "slo", Bad, "SLO tpot_p50=9ms is missed: 10.0 ms, n 120")
	for _, met := range []SLO{
		latencySLO("ttft_p95=240ms", "ttft", 0.95, 240), latencySLO("gap_p99=14ms", "gap", 99./100, 14), latencySLO("e2e_p90=3s", "e2e", 0.9, 3000),
	} {
		only(t, underSLO(met, nil), "healthy", Healthy, "healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
	}
	none(t, "a quantile that is not measured", underSLO(latencySLO("ttft_p75=1ms", "ttft", 0.75, 1), nil), "slo")
	none(t, "another metric", underSLO(latencySLO("setup_p95=1ms", "setup", 0.95, 1), nil), "slo")
}

func TestSLOOfFewSamples(t *testing.T) {
	few := func(f *frame.Frame) { f.Client.TTFT.N = 40 }
	only(t, underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), few), "slo_unclear", Info, "too few samples to judge ttft_p99=299ms")
	none(t, "weak", underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), few), "slo")
	// p90 is 200 ms: with a tenth above the limit p99 cannot be met.
	only(t, underSLO(latencySLO("ttft_p99=199ms", "ttft", 0.99, 199), few), "slo", Bad, "SLO ttft_p99=199ms is missed: even p90 200 ms, n 40")
	none(t, "no sample at all", underSLO(latencySLO("ttft_p99=199ms", "ttft", 0.99, 199), func(f *frame.Frame) { f.Client.TTFT = measure.Summary{} }), "slo_unclear")
}

func TestSuccessSLO(t *testing.T) {
	of := func(share float64, ok, failed int, recent bool) *Judge {
		return underSLO(SLO{Text: "success", Metric: "success", SuccessShare: share}, func(f *frame.Frame) {
			f.Client.OK, f.Client.Failed = ok, failed
			if recent && f.At == 25*time.Second {
				f.Requests = append(f.Requests, fail(measure.HTTP5xx, "boom"))
			}
		})
	}
	// 0.1 % of 2000 is 2.
	j := of(0.999, 1997, 3, true)
	if v := j.Strongest(); v.Rule != "slo" || v.Severity != Bad || v.Text != "SLO success is missed: 3 of 2000 requests failed" {
		t.Errorf("%+v", v)
	}
	only(t, of(0.999, 1997, 3, false), "slo", Warn, "SLO success is missed: 3 of 2000 requests failed")
	none(t, "just met", of(0.999, 1998, 2, false), "slo")
	none(t, "one of fifty tells nothing of 99.9 %", of(0.999, 49, 1, true), "slo")
	only(t, of(0.999, 49, 1, false), "slo_unclear", Info, "too few samples to judge success")
	only(t, of(1, 49, 1, false), "slo", Warn, "SLO success is missed: 1 of 50 requests failed")
	none(t, "none failed", of(0.999, 5, 0, false), "slo_unclear")
}

func TestSeveralSLOs(t *testing.T) {
	j := scene(nil)
	j.SetSLOs([]SLO{latencySLO("ttft_p95=230ms", "ttft", 0.95, 230), latencySLO("tpot_p50=9ms", "tpot", 0.5, 9)})
	if got := strings.Join(j.Strongest().Evidence, "; "); got != "tpot_p50=9ms too: 10.0 ms, n 120" {
		t.Errorf("evidence %q", got)
	}
	j.SetSLOs(nil)
	none(t, "taken back", j, "slo")
}
