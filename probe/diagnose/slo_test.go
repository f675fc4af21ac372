package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// underSLO is the scene with a service level.
func underSLO(s slo.Target, change func(f *frame.Frame)) *Judge {
	j := scene(change)
	j.SetSLOs([]slo.Target{s})
	return j
}

func latencySLO(text, metric string, q, ms float64) slo.Target {
	return slo.Target{Text: text, Metric: metric, Quantile: q, LimitMS: ms}
}

func TestSLOMissed(t *testing.T) {
	// Of 106 requests that began after the first second seven have a TTFT of 300 ms, the
	// others of 200 ms; TPOT is 10 ms.
	slow := func(f *frame.Frame) {
		if f.Seq%16 == 0 {
			f.Requests[0].First = f.Requests[0].Start + 300*time.Millisecond
		}
	}
	only(t, underSLO(latencySLO("ttft_p95=230ms", "ttft", 0.95, 230), slow), "slo", Bad, "SLO ttft_p95=230ms missed: 300 ms, n 106")
	only(t, underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), slow), "slo", Bad, "SLO ttft_p99=299ms missed: 300 ms, n 106")
	only(t, underSLO(latencySLO("tpot_p50=9ms", "tpot", 0.5, 9), nil), "slo", Bad, "SLO tpot_p50=9ms missed: 10.0 ms, n 106")
	for _, met := range []slo.Target{
		latencySLO("ttft_p90=240ms", "ttft", 0.9, 240), latencySLO("gap_p99=14ms", "gap", 99./100, 14), latencySLO("e2e_p90=3s", "e2e", 0.9, 3000),
	} {
		only(t, underSLO(met, slow), "healthy", Healthy, "healthy: TTFT p95 240 ms, TPOT p95 12.0 ms, no failures")
	}
	none(t, "another metric", underSLO(latencySLO("setup_p95=1ms", "setup", 0.95, 1), nil), "slo")
}

// Of 1,600 gaps of 16 streams, 10 % are above: 100 steps, of which 10 are.
func TestGapSLO(t *testing.T) {
	j := underSLO(latencySLO("gap_p95=20ms", "gap", 0.95, 20), func(f *frame.Frame) {
		f.Client.SliceGaps = slices.Repeat([]float32{10}, 18)
		f.Client.SliceGaps = append(f.Client.SliceGaps, 30, 30)
	})
	only(t, j, "slo", Bad, "SLO gap_p95=20ms missed: 10 % of 150 samples exceed it")
}

func TestSLOOfFewSamples(t *testing.T) {
	few := func(f *frame.Frame) {
		if f.At <= 20*time.Second {
			f.Requests = nil
		}
	}
	only(t, underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), few), "slo_unclear", Info, "too few samples to judge ttft_p99=299ms")
	none(t, "weak", underSLO(latencySLO("ttft_p99=299ms", "ttft", 0.99, 299), few), "slo")
	// Of so many above the limit few suffice.
	only(t, underSLO(latencySLO("ttft_p99=199ms", "ttft", 0.99, 199), few), "slo", Bad, "SLO ttft_p99=199ms missed: 100 % of 40 samples exceed it")
	none(t, "no sample at all", underSLO(latencySLO("ttft_p99=199ms", "ttft", 0.99, 199), func(f *frame.Frame) { f.Requests = nil }), "slo_unclear")
}

func TestSuccessSLO(t *testing.T) {
	of := func(share float64, ok, failed int, recent bool) *Judge {
		return underSLO(slo.Target{Text: "success", Metric: "success", SuccessShare: share}, func(f *frame.Frame) {
			f.Client.OK, f.Client.Failed = ok, failed
			if recent && f.At == 25*time.Second {
				f.Requests = append(f.Requests, fail(measure.HTTP5xx, "boom"))
			}
		})
	}
	// 0.1 % of 2000 is 2.
	j := of(0.999, 1997, 3, true)
	if v := j.Strongest(); v.Rule != "slo" || v.Severity != Bad || v.Text != "SLO success missed: 3 of 2000 requests failed" {
		t.Errorf("%+v", v)
	}
	only(t, of(0.999, 1997, 3, false), "slo", Warn, "SLO success missed: 3 of 2000 requests failed")
	none(t, "just met", of(0.999, 1998, 2, false), "slo")
	none(t, "one of sixty says nothing of 99.9 %", of(0.999, 59, 1, true), "slo")
	only(t, of(0.999, 59, 1, false), "slo_unclear", Info, "too few samples to judge success")
	only(t, of(1, 49, 1, false), "slo", Warn, "SLO success missed: 1 of 50 requests failed")
	none(t, "none failed", of(0.999, 5, 0, false), "slo_unclear")
}

func TestSeveralSLOs(t *testing.T) {
	j := scene(nil)
	j.SetSLOs([]slo.Target{latencySLO("ttft_p95=130ms", "ttft", 0.95, 130), latencySLO("tpot_p50=9ms", "tpot", 0.5, 9)})
	if got := strings.Join(j.Strongest().Evidence, "; "); got != "requests at this load in the last 30 s; also missed: tpot_p50=9ms: 10.0 ms, n 106" {
		t.Errorf("evidence %q", got)
	}
	j.SetSLOs(nil)
	none(t, "taken back", j, "slo")
}
