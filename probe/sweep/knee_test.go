package sweep

import (
	"strings"
	"testing"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// level is a settled row of a closed loop whose requests take so long.
func settled(streams int, e2eMS float64, change ...func(*level.Level)) level.Level {
	x := 1000 * float64(streams) / e2eMS
	l := level.Level{Load: frame.Load{Concurrency: streams}, Settled: true, InFlight: opt.Of(float64(streams))}
	l.OK, l.E2E.N, l.E2E.Mean, l.TTFT.N, l.TTFT.P95 = 50, 50, e2eMS, 50, 10
	l.RequestsPerS, l.OutTokensPerS = opt.Of(x), opt.Of(100*x)
	for _, c := range change {
		c(&l)
	}
	return l
}

// open is a level of 9 requests/s under a cap of 64 streams.
func open(inFlight, served float64) level.Level {
	l := level.Level{Load: frame.Load{Rate: 9, Concurrency: 64}, InFlight: opt.Of(inFlight)}
	l.OK, l.RequestsPerS = 50, opt.Of(served)
	return l
}

func refuse(l *level.Level, n int) {
	l.Failed, l.ByClass = n, map[measure.Class]int{measure.RateLimited: n}
}

func engineSays(running, waiting, kv float64) func(*level.Level) {
	return func(r *level.Level) {
		r.Engine.Running, r.Engine.Waiting, r.Engine.KV, r.Engine.KVMax = opt.Of(running), opt.Of(waiting), opt.Of(kv), opt.Of(kv)
	}
}

// Flat from 16 streams on; what differs is what engine, GPU and client tell.
func TestWhatIsExhausted(t *testing.T) {
	gpu := func(dram, tensor float64) func(*level.Level) {
		return func(r *level.Level) { r.DRAM, r.Tensor = opt.Of(dram), opt.Of(tensor) }
	}
	for name, c := range map[string]struct {
		at, top func(*level.Level)
		want    Resource
	}{
		"16 run, the rest waits, the cache has room": {engineSays(16, 0, 0.3), engineSays(16, 16, 0.3), MaxSequences},
		"the cache is full":                          {engineSays(16, 0, 0.9), engineSays(17, 15, 0.97), KVCache},
		"no room for one more of 16":                 {engineSays(16, 0, 0.94), engineSays(16, 16, 0.95), KVCache},
		"preemptions":                                {engineSays(16, 0, 0.9), func(r *level.Level) { r.Engine.Preemptions = opt.Of(3) }, KVCache},
		"the engine does not tell its cache":         {engineSays(16, 0, 0.3), func(r *level.Level) { r.Engine.Running, r.Engine.Waiting = opt.Of(16), opt.Of(16) }, UnknownResource},
		"half of them run":                           {engineSays(16, 0, 0.3), engineSays(22, 10, 0.4), UnknownResource},
		"all run, and memory is read":                {engineSays(16, 0, 0.3), func(r *level.Level) { engineSays(32, 0, 0.6)(r); gpu(0.7, 0.1)(r) }, MemoryBandwidth},
		"all run, and tensor cores are busy":         {engineSays(16, 0, 0.3), func(r *level.Level) { engineSays(30, 2, 0.6)(r); gpu(0.3, 0.55)(r) }, Compute},
		"no tensor reading, much arithmetic":         {engineSays(16, 0, 0.3), func(r *level.Level) { engineSays(32, 0, 0.6)(r); r.MFU = opt.Of(0.5) }, Compute},
		"all run, and nothing is busy":               {engineSays(16, 0, 0.3), func(r *level.Level) { engineSays(32, 0, 0.6)(r); gpu(0.2, 0.1)(r) }, UnknownResource},
		"nobody tells anything":                      {func(*level.Level) {}, func(*level.Level) {}, UnknownResource},
		"refusals":                                   {func(*level.Level) {}, func(r *level.Level) { refuse(r, 10) }, RateLimit},
		"few refusals":                               {func(*level.Level) {}, func(r *level.Level) { refuse(r, 2) }, UnknownResource},
		"this client": {engineSays(16, 0, 0.3), func(r *level.Level) {
			engineSays(16, 16, 0.3)(r)
			r.Client.Behind, r.Client.BehindWhy = 1, "this process uses 2 of 2 cores"
		}, ClientLimit},
	} {
		k, why := FindKnee([]level.Level{settled(8, 1000), settled(16, 1000, c.at), settled(32, 2000, c.top)})
		if k == nil {
			t.Fatalf("%s: %v", name, why)
		}
		if k.Limit.Resource != c.want || k.At.Amount() != 16 {
			t.Errorf("%s: %q at %v: %v", name, k.Limit.Resource, k.At.Amount(), k.Evidence())
		}
		if said := strings.Contains(k.String(), "exhausted"); said != (c.want != UnknownResource) {
			t.Errorf("%s: %s", name, k)
		}
	}
}

// 800 tok/s at 8 streams, 1,600 at 16, 1,600 at 32: 100 for each stream up to 16, none beyond.
// The elasticities are 1 and 0.
func TestKneeByHand(t *testing.T) {
	k, _ := FindKnee([]level.Level{settled(8, 1000), settled(16, 1000), settled(32, 2000)})
	if k == nil || k.At.Amount() != 16 || k.GainBelow != 100 || k.GainAbove != 0 {
		t.Fatalf("%+v", k)
	}
	all := k.String() + strings.Join(k.Evidence(), "\n")
	for _, want := range []string{"knee at 16 streams: each stream more brings 100 tok/s up to 16, and 0.00 beyond", "8 → 16 → 32 streams: throughput 800 → 1600 → 1600 tok/s", "elasticity of throughput: 1.00 before, 0.00 after"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
}

// Without a level that is clearly worse on each side there is no knee.
// The level at the knee tells queue and cache, the one below it does not; the cache of the
// engine that preempts is not told at all.
func TestWhatIsUnknownIsNoZeroInTheEvidence(t *testing.T) {
	k, why := FindKnee([]level.Level{settled(8, 1000), settled(16, 1000, engineSays(16, 0, 0.3)), settled(32, 2000, engineSays(16, 16, 0.3))})
	if k == nil {
		t.Fatal(why)
	}
	all := strings.Join(k.Evidence(), "\n")
	for _, want := range []string{"waiting in the engine — → 0.00 → 16.0", "KV cache — → 30.0 → 30.0 % full"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	top := settled(32, 2000, func(r *level.Level) { r.Engine.Preemptions = opt.Of(3) })
	if why := limitOf(&k.At, &top).Evidence; !strings.Contains(why, "3 preemptions, up to — % full") {
		t.Error(why)
	}
}

func TestNoKneeWithoutEvidence(t *testing.T) {
	unsettled := settled(32, 2000)
	unsettled.Settled = false
	for _, c := range []struct {
		curve []level.Level
		want  string
	}{
		{[]level.Level{settled(8, 1000), settled(16, 1000)}, "at least three"},
		{[]level.Level{settled(4, 1000), settled(8, 1000), settled(16, 1000), unsettled}, "still rises at 16 streams"},
		{[]level.Level{settled(4, 1000), settled(8, 1100), settled(16, 1450)}, "still rises at 16 streams"}, // elasticity 0.86, then 0.60
		{[]level.Level{settled(4, 1000), settled(8, 2000), settled(16, 4000)}, "hardly rises from 4 streams on"},
		{nil, "at least three"},
	} {
		if k, why := FindKnee(c.curve); k != nil || !strings.Contains(why, c.want) {
			t.Errorf("%d levels: %+v, %q; want %q", len(c.curve), k, why, c.want)
		}
	}
}

// What answers out of order say: the split that the fewest speak against.
func TestBoundaryOfAnswers(t *testing.T) {
	rows := func(list ...slo.Verdict) (out []level.Level) {
		for i, v := range list {
			n := 100
			if v == slo.SeemsMeets {
				n = 20 // too few for a p95
			}
			r := settled(1<<i, 1000)
			r.SLOs = []slo.Result{{Target: slo.Target{Text: "ttft_p95=1s", Quantile: 0.95}, N: n, Verdict: v, Confidence: opt.Of(0.9)}}
			out = append(out, r)
		}
		return out
	}
	for name, c := range map[string]struct {
		rows        []level.Level
		best, above float64 // 0: none
	}{
		"in order":              {rows(slo.Meets, slo.Meets, slo.Fails, slo.Fails), 2, 4},
		"too few below":         {rows(slo.SeemsMeets, slo.SeemsMeets, slo.Meets, slo.Fails), 4, 8},
		"only too few":          {rows(slo.SeemsMeets, slo.SeemsMeets, slo.SeemsFails), 2, 4},
		"sure before larger":    {rows(slo.Meets, slo.SeemsMeets, slo.Fails), 1, 4},
		"a slow start":          {rows(slo.SeemsFails, slo.Meets, slo.Meets, slo.Fails), 4, 8},
		"a lucky one far above": {rows(slo.Meets, slo.Fails, slo.Fails, slo.SeemsMeets, slo.Fails), 1, 2},
		"none":                  {rows(slo.Fails, slo.Fails), 0, 1},
		"all":                   {rows(slo.Meets, slo.Meets), 2, 0},
		"nothing judged":        {rows(slo.NotJudged), 0, 0},
	} {
		b := FindBoundary(c.rows)
		at := func(r *level.Level) float64 {
			if r == nil {
				return 0
			}
			return r.Amount()
		}
		if at(b.Best) != c.best || at(b.Above) != c.above || b.String() == "" {
			t.Errorf("%s: %v and %v, want %v and %v: %s", name, at(b.Best), at(b.Above), c.best, c.above, &b)
		}
	}
}

// A load is too much when throughput is no more than at a much smaller one and the wait explodes, when
// requests fail, or when this client is the limit. Steps of an eighth prove nothing.
func TestTooMuch(t *testing.T) {
	waits := func(ms float64) func(*level.Level) { return func(r *level.Level) { r.TTFT.P95 = ms } }
	base := settled(16, 1000)
	for name, c := range map[string]struct {
		r    level.Level
		want string
	}{
		"flat and slow":          {settled(32, 2000, waits(40)), "overload at 32 streams"},
		"flat, but quick":        {settled(32, 2000), ""},
		"slow, but rising":       {settled(32, 1500, waits(40)), ""},
		"a small step":           {settled(18, 1125, waits(40)), ""},
		"failures":               {settled(16, 1000, func(r *level.Level) { r.Failed = 10 }), "10 of 60 requests failed"},
		"few failures":           {settled(16, 1000, func(r *level.Level) { r.Failed = 4 }), ""},
		"we are the limit":       {settled(16, 1000, func(r *level.Level) { r.Client.Behind, r.Client.BehindWhy = 1, "no CPU left" }), "this client is the bottleneck at 16 streams: no CPU left"},
		"all under the cap":      {open(62, 9), "all 64 streams"},
		"not served":             {open(20, 7), "only 7.00 of 9 requests/s"},
		"served, by chance less": {open(20, 8), ""},
	} {
		got := tooMuch(&c.r, []level.Level{base, c.r})
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Three of ten requests are refused, and those that succeed are quick: that load is not held,
// although its latencies are within the limit. Who asks for a share of successes is judged by it.
func TestALoadThatIsRefusedMeetsNothing(t *testing.T) {
	quick := slo.Result{Target: slo.Target{Text: "ttft_p95=1s", Metric: "ttft", Quantile: 0.95}, N: 70, Verdict: slo.Meets, Confidence: opt.Of(0.97)}
	half := slo.Result{Target: slo.Target{Text: "success=50", Metric: slo.Success, SuccessShare: 0.5}, N: 100, Verdict: slo.Meets, Confidence: opt.Of(0.99)}
	well, refused := settled(2, 1000), settled(4, 1000)
	well.SLOs, refused.SLOs = []slo.Result{quick}, []slo.Result{quick}
	refused.OK, refused.Failed = 70, 30
	b := FindBoundary([]level.Level{well, refused})
	if b.Best == nil || b.Best.Amount() != 2 || b.Above == nil || b.Above.Amount() != 4 || !strings.HasSuffix(b.String(), "; 4 streams miss: 30 of 100 requests failed") {
		t.Errorf("%+v", b)
	}
	refused.SLOs = []slo.Result{quick, half}
	if v := refused.Verdict(); v != slo.Meets {
		t.Errorf("30 of 100 may fail: %v", v)
	}
	// All failed before the level had settled: there is no latency to judge.
	refused.Settled, refused.OK, refused.Failed = false, 0, 5
	refused.SLOs = []slo.Result{{Target: quick.Target}}
	if b := FindBoundary([]level.Level{refused}); b.Best != nil || b.String() != "no load meets the SLOs: 4 streams miss: 5 of 5 requests failed" {
		t.Errorf("%+v", b)
	}
}
