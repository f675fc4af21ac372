package report

import (
	"math"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// withEngine puts a reading into each whole second's Frame and those after it.
func withEngine(readings []engine.Reading) func(*frame.Frame) {
	return func(f *frame.Frame) {
		f.Target.Started = epoch
		i := min(int(f.At/time.Second), len(readings)-1)
		f.Engine = engine.Status{Have: true, Reading: readings[i]}
		f.Engine.Reading.At = epoch.Add(time.Duration(i) * time.Second)
	}
}

func TestEngineFigures(t *testing.T) {
	mk := func(running, waiting, kv, kvMax, preempted, tokens, queries, hits float64) engine.Reading {
		return engine.Reading{
			Running: opt.Of(running), Waiting: opt.Of(waiting), KVFill: opt.Of(kv), KVFillMax: opt.Of(kvMax),
			Preemptions: opt.Of(preempted), GenerationTokens: opt.Of(tokens), PrefixQueries: opt.Of(queries), PrefixHits: opt.Of(hits),
		}
	}
	readings := []engine.Reading{
		mk(0, 0, 0, 0, 2, 1000, 100, 0),
		mk(2, 5, 0.4, 0.6, 2, 1500, 300, 50), // from 1 s on
		mk(4, 1, 0.6, 0.9, 3, 2500, 500, 50), // from 2 s on
	}
	// The window is 1 s to 3 s long after a warm-up of 1 s.
	s := summarise(bench.Plan{Load: closed, WarmupFor: time.Second, Duration: 2 * time.Second}, frames(4*time.Second, closed, nil, withEngine(readings)))
	e := s.Engine
	// Frames end at 1.25, 1.5, 1.75 with the second reading, at 2.0 … 3.0 with
	// the third one.
	near(t, "running", e.RunningMean, (3*2+5*4)/8.0)
	near(t, "waiting", e.WaitingMax, 5)
	near(t, "kv mean", e.KVFillMean, (3*0.4+5*0.6)/8.0)
	near(t, "kv max", e.KVFillMax, 0.9)
	near(t, "preemptions", e.Preemptions, 1)
	near(t, "tokens", e.OutputPerS, 1000)
	near(t, "hits", e.PrefixHitRate, 0)
}

// The engine restarts between the second and the third reading: that interval
// is left out, and nothing is negative.
func TestACounterResetSkipsItsInterval(t *testing.T) {
	var readings []engine.Reading
	for i, tokens := range []float64{1000, 1500, 40, 140} {
		h := engine.Histogram{Bounds: []float64{1, math.Inf(1)}, Counts: []float64{tokens, tokens}, Count: tokens, Sum: tokens / 2}
		readings = append(readings, engine.Reading{GenerationTokens: opt.Of(tokens), TTFT: h, Restarted: i == 2})
	}
	s := summarise(bench.Plan{Load: closed, Duration: 3 * time.Second}, frames(4*time.Second, closed, nil, withEngine(readings)))
	near(t, "tokens", s.Engine.OutputPerS, (500+100)/2.0)
	if s.Engine.LatencyMS.TTFT.N != 600 {
		t.Errorf("n = %d", s.Engine.LatencyMS.TTFT.N)
	}
	hasNote(t, s, "engine restarted")
}

// Totals of some engines move when a request ends: the live counter goes before
// them, but only where both readings have it.
func TestLiveCountersGoBeforeTotals(t *testing.T) {
	readings := []engine.Reading{
		{GenerationTokens: opt.Of(50)},
		{GenerationTokens: opt.Of(50), LiveDecodeTokens: opt.Of(1000)},
		{GenerationTokens: opt.Of(50), LiveDecodeTokens: opt.Of(1400)},
	}
	s := summarise(bench.Plan{Load: closed, Duration: 2 * time.Second}, frames(3*time.Second, closed, nil, withEngine(readings)))
	near(t, "tokens: 0 and 400 in 2 s", s.Engine.OutputPerS, 200)
}

func TestServerQuantilesFromBuckets(t *testing.T) {
	bounds := []float64{0.1, 0.5, 1, math.Inf(1)}
	before := engine.Histogram{Bounds: bounds, Counts: []float64{10, 10, 10, 10}, Count: 10, Sum: 1}
	after := engine.Histogram{Bounds: bounds, Counts: []float64{90, 130, 210, 210}, Count: 210, Sum: 101}
	beyond := engine.Histogram{Bounds: bounds, Counts: []float64{10, 10, 106, 110}, Count: 110, Sum: 11}
	readings := []engine.Reading{{TTFT: before, E2E: before}, {TTFT: after, E2E: beyond}}
	s := summarise(bench.Plan{Load: closed, Duration: 2 * time.Second}, frames(3*time.Second, closed, nil, withEngine(readings)))
	q := s.Engine.LatencyMS.TTFT
	// 80, 120, 200, 200 observations: rank 100 is in the middle of the second
	// bucket, rank 190 at 7/8 of the third.
	near(t, "p50", q.P50, 300)
	near(t, "p95", q.P95, 937.5)
	near(t, "mean", q.Mean, 500)
	if q.N != 200 || len(q.Above) != 0 {
		t.Errorf("n %d, above %v", q.N, q.Above)
	}
	// 96 within the last finite bound of 1 s, four beyond.
	e := s.Engine.LatencyMS.E2E
	if e.P99.OK || e.N != 100 {
		t.Errorf("e2e %+v", e)
	}
	near(t, "above", e.Above["p99"], 1000)
	if s.Engine.LatencyMS.Queue.N != 0 || s.Engine.LatencyMS.Queue.P50.OK {
		t.Errorf("queue %+v", s.Engine.LatencyMS.Queue)
	}
}

func TestStaleReadingsSayNothing(t *testing.T) {
	s := summarise(bench.Plan{Load: closed, Duration: time.Second}, frames(2*time.Second, closed, nil, func(f *frame.Frame) {
		f.Target.Started = epoch
		f.Engine = engine.Status{Have: true, Reading: engine.Reading{At: epoch.Add(-time.Minute), Running: opt.Of(3)}}
		f.GPU = gpu.Status{At: epoch.Add(-time.Minute), GPUs: []gpu.Reading{{ID: "a", SM: opt.Of(0.5)}}}
	}))
	if s.Engine.RunningMean.OK || len(s.GPUs) != 0 {
		t.Errorf("engine %+v, GPUs %+v", s.Engine, s.GPUs)
	}
}

func TestGPUMeansOverTheWindow(t *testing.T) {
	s := summarise(bench.Plan{Load: closed, Duration: time.Second}, frames(2*time.Second, closed, nil, func(f *frame.Frame) {
		n := float64(f.Seq) // 1, 2, 3, 4 in the window
		f.GPU.GPUs = []gpu.Reading{
			{ID: "GPU-a", Name: "A", Source: "nvml-gpm", SM: opt.Of(n / 10), DRAM: opt.Of(n / 20), MemUsed: opt.Of(n * 100), Power: opt.Of(100 * n)},
			{ID: "GPU-b", Name: "B", Source: "nvml", Busy: opt.Of(1)},
		}
	}))
	if len(s.GPUs) != 2 {
		t.Fatalf("GPUs %+v", s.GPUs)
	}
	a, b := s.GPUs[0], s.GPUs[1]
	near(t, "SM", a.SMMean, 0.25)
	near(t, "DRAM", a.DRAMMean, 0.125)
	near(t, "memory", a.MemUsedMax, 400)
	near(t, "power", a.PowerWMean, 250)
	near(t, "busy", b.BusyMean, 1)
	if a.BusyMean.OK || b.SMMean.OK || b.PowerWMean.OK || a.ID != "GPU-a" || a.Source != "nvml-gpm" {
		t.Errorf("unknown became known: %+v %+v", a, b)
	}
}

func TestClientBottleneck(t *testing.T) {
	for _, c := range []struct {
		bad  uint64 // Frames of 20 in which the client was in the way
		want bool
	}{{0, false}, {1, false}, {2, true}} {
		s := summarise(bench.Plan{Load: closed, Duration: 5 * time.Second}, frames(6*time.Second, closed, nil, func(f *frame.Frame) {
			f.Health = frame.Health{Stamps: "kernel", LateMsP99: float64(f.Seq), CPU: opt.Of(0.5)}
			if f.Seq <= c.bad {
				f.Health.Bottleneck, f.Health.Why = true, "no CPU"
			}
		}))
		if s.Client.Bottleneck != c.want || s.Client.Stamps != "kernel" {
			t.Errorf("%d bad Frames: %+v", c.bad, s.Client)
		}
		near(t, "late", s.Client.LateMSP99, 20)
		near(t, "cpu", s.Client.CPU, 0.5)
		if c.bad > 0 {
			hasNote(t, s, "no CPU")
		}
	}
}

func TestGoodputAndSLOs(t *testing.T) {
	slow := stream(0, 900, 10, 11)
	good1, good2 := stream(0, 100, 10, 11), stream(0, 100, 10, 11)
	one := stream(0, 100, 0, 1) // has no TPOT to miss
	late := stream(0, 100, 95, 11)
	bad := failed(0, "http_5xx", "boom")
	plan := bench.Plan{Load: closed, Duration: time.Second, SLOs: []slo.Target{
		{Metric: "ttft", Quantile: 0.5, LimitMS: 500, Text: "ttft_p50=500ms"},
		{Metric: "tpot", Quantile: 0.95, LimitMS: 50, Text: "tpot_p95=50ms"},
		{Metric: "success", SuccessShare: 0.9, Text: "success=90"},
		{Metric: "nonsense", Quantile: 0.5, LimitMS: 1, Text: "nonsense_p50=1ms"},
	}}
	s := summarise(plan, frames(3*time.Second, closed, reqs(slow, good1, good2, one, late, bad), nil))
	near(t, "good share", s.GoodShare, 3/6.0)
	near(t, "goodput", s.GoodputPerS, 3)
	met := []string{}
	for _, r := range s.SLO {
		switch {
		case r.Met == nil:
			met = append(met, "?")
		case *r.Met:
			met = append(met, "yes")
		default:
			met = append(met, "no")
		}
	}
	// TPOT of the four streams: 10, 10, 10 and 95 ms: p95 is 82.25 ms.
	near(t, "tpot p95", s.SLO[1].Actual, 82.25)
	near(t, "success", s.SLO[2].Actual, 5/6.0)
	if got := met; len(got) != 4 || got[0] != "yes" || got[1] != "no" || got[2] != "no" || got[3] != "?" {
		t.Errorf("met %v", got)
	}
	if s.ExitCode() != 1 {
		t.Errorf("exit %d", s.ExitCode())
	}
	if none := summarise(bench.Plan{Load: closed, Requests: 1}, frames(time.Second, closed, reqs(good1), nil)); none.GoodShare.OK || none.GoodputPerS.OK || none.ExitCode() != 0 {
		t.Errorf("without SLOs: %+v", none)
	}
}

func TestSLOOnGaps(t *testing.T) {
	r := stream(0, 100, 10, 11)
	r.GapsMS[3] = 300
	for limit, want := range map[float64]float64{5: 0, 20: 1} {
		plan := bench.Plan{Load: closed, Requests: 1, SLOs: []slo.Target{{Metric: "gap", Quantile: 0.5, LimitMS: limit}}}
		near(t, "good share", summarise(plan, frames(time.Second, closed, reqs(r), nil)).GoodShare, want)
	}
}
