package sweep

import (
	"strings"
	"testing"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// level is a settled row of a closed loop whose requests take so long.
func level(streams int, e2eMS float64, change ...func(*Row)) Row {
	x := 1000 * float64(streams) / e2eMS
	r := Row{Load: frame.Load{Concurrency: streams}, Settled: true, OK: 50, E2E: measure.Summary{N: 50, Mean: e2eMS}, TTFT: measure.Summary{N: 50, P95: 10},
		RequestsPerS: opt.Of(x), OutTokensPerS: opt.Of(100 * x), OutputTokens: opt.Of(100), InFlight: opt.Of(float64(streams))}
	for _, c := range change {
		c(&r)
	}
	return r
}

func engineSays(running, waiting, kv float64) func(*Row) {
	return func(r *Row) {
		r.Running, r.Waiting, r.KV, r.KVMax = opt.Of(running), opt.Of(waiting), opt.Of(kv), opt.Of(kv)
	}
}

// Flat from 16 streams on; what differs is what engine, GPU and client tell.
func TestWhatIsExhausted(t *testing.T) {
	gpu := func(dram, tensor float64) func(*Row) {
		return func(r *Row) { r.DRAM, r.Tensor = opt.Of(dram), opt.Of(tensor) }
	}
	for name, c := range map[string]struct {
		at, top func(*Row)
		want    Resource
	}{
		"16 run, the rest waits, the cache has room": {engineSays(16, 0, 0.3), engineSays(16, 16, 0.3), MaxSequences},
		"the cache is full":                          {engineSays(16, 0, 0.9), engineSays(17, 15, 0.97), KVCache},
		"no room for one more of 16":                 {engineSays(16, 0, 0.94), engineSays(16, 16, 0.95), KVCache},
		"preemptions":                                {engineSays(16, 0, 0.9), func(r *Row) { r.Preemptions = opt.Of(3) }, KVCache},
		"the engine does not tell its cache":         {engineSays(16, 0, 0.3), func(r *Row) { r.Running, r.Waiting = opt.Of(16), opt.Of(16) }, UnknownResource},
		"half of them run":                           {engineSays(16, 0, 0.3), engineSays(22, 10, 0.4), UnknownResource},
		"all run, and memory is read":                {engineSays(16, 0, 0.3), func(r *Row) { engineSays(32, 0, 0.6)(r); gpu(0.7, 0.1)(r) }, MemoryBandwidth},
		"all run, and tensor cores are busy":         {engineSays(16, 0, 0.3), func(r *Row) { engineSays(30, 2, 0.6)(r); gpu(0.3, 0.55)(r) }, Compute},
		"no tensor reading, much arithmetic":         {engineSays(16, 0, 0.3), func(r *Row) { engineSays(32, 0, 0.6)(r); r.MFU = opt.Of(0.5) }, Compute},
		"all run, and nothing is busy":               {engineSays(16, 0, 0.3), func(r *Row) { engineSays(32, 0, 0.6)(r); gpu(0.2, 0.1)(r) }, UnknownResource},
		"nobody tells anything":                      {func(*Row) {}, func(*Row) {}, UnknownResource},
		"refusals":                                   {func(*Row) {}, func(r *Row) { r.Failed, r.Refused = 10, 10 }, RateLimit},
		"few refusals":                               {func(*Row) {}, func(r *Row) { r.Failed, r.Refused = 2, 2 }, UnknownResource},
		"this client": {engineSays(16, 0, 0.3), func(r *Row) {
			engineSays(16, 16, 0.3)(r)
			r.ClientBound, r.ClientWhy = true, "this process uses 2 of 2 cores"
		}, ClientLimit},
	} {
		k, why := FindKnee([]Row{level(8, 1000), level(16, 1000, c.at), level(32, 2000, c.top)})
		if k == nil {
			t.Fatalf("%s: %s", name, why)
		}
		if k.Exhausted != c.want || k.At.Amount() != 16 {
			t.Errorf("%s: %q at %v: %v", name, k.Exhausted, k.At.Amount(), k.Evidence)
		}
		if said := strings.Contains(k.Says, "exhausted"); said != (c.want != UnknownResource) {
			t.Errorf("%s: %s", name, k.Says)
		}
	}
}

// 800 tok/s at 8 streams, 1,600 at 16, 1,600 at 32: 100 for each stream up to 16, none beyond.
// The elasticities are 1 and 0.
func TestKneeByHand(t *testing.T) {
	k, _ := FindKnee([]Row{level(8, 1000), level(16, 1000), level(32, 2000)})
	if k == nil || k.At.Amount() != 16 || k.GainBelow != 100 || k.GainAbove != 0 {
		t.Fatalf("%+v", k)
	}
	all := k.Says + strings.Join(k.Evidence, "\n")
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
	k, why := FindKnee([]Row{level(8, 1000), level(16, 1000, engineSays(16, 0, 0.3)), level(32, 2000, engineSays(16, 16, 0.3))})
	if k == nil {
		t.Fatal(why)
	}
	all := strings.Join(k.Evidence, "\n")
	for _, want := range []string{"waiting in the engine — → 0.00 → 16.0", "KV cache — → 30.0 → 30.0 % full"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	top := level(32, 2000, func(r *Row) { r.Preemptions = opt.Of(3) })
	if _, why := exhausted(&k.At, &top); !strings.Contains(why, "3 preemptions, up to — % full") {
		t.Error(why)
	}
}

func TestNoKneeWithoutEvidence(t *testing.T) {
	unsettled := level(32, 2000)
	unsettled.Settled = false
	for _, c := range []struct {
		curve []Row
		why   string
	}{
		{[]Row{level(8, 1000), level(16, 1000)}, "at least three"},
		{[]Row{level(4, 1000), level(8, 1000), level(16, 1000), unsettled}, "still rises at 16 streams"},
		{[]Row{level(4, 1000), level(8, 1100), level(16, 1450)}, "still rises at 16 streams"}, // elasticity 0.86, then 0.60
		{[]Row{level(4, 1000), level(8, 2000), level(16, 4000)}, "hardly rises from 4 streams on"},
		{nil, "at least three"},
	} {
		if k, why := FindKnee(c.curve); k != nil || !strings.Contains(why, c.why) {
			t.Errorf("%d levels: %+v, %q; want %q", len(c.curve), k, why, c.why)
		}
	}
}

// What answers out of order say: the split that the fewest speak against.
func TestBoundaryOfAnswers(t *testing.T) {
	rows := func(list ...Verdict) (out []Row) {
		for i, v := range list {
			n := 100
			if v == SeemsMeets {
				n = 20 // too few for a p95
			}
			r := level(1<<i, 1000)
			r.SLOs = []SLOResult{{SLO: SLO{Text: "ttft_p95=1s", Quantile: 0.95}, N: n, Verdict: v, Confidence: opt.Of(0.9)}}
			out = append(out, r)
		}
		return out
	}
	for name, c := range map[string]struct {
		rows        []Row
		best, above float64 // 0: none
	}{
		"in order":              {rows(Meets, Meets, Fails, Fails), 2, 4},
		"too few below":         {rows(SeemsMeets, SeemsMeets, Meets, Fails), 4, 8},
		"only too few":          {rows(SeemsMeets, SeemsMeets, SeemsFails), 2, 4},
		"sure before larger":    {rows(Meets, SeemsMeets, Fails), 1, 4},
		"a slow start":          {rows(SeemsFails, Meets, Meets, Fails), 4, 8},
		"a lucky one far above": {rows(Meets, Fails, Fails, SeemsMeets, Fails), 1, 2},
		"none":                  {rows(Fails, Fails), 0, 1},
		"all":                   {rows(Meets, Meets), 2, 0},
		"nothing judged":        {rows(NotJudged), 0, 0},
	} {
		b := FindBoundary(c.rows)
		at := func(r *Row) float64 {
			if r == nil {
				return 0
			}
			return r.Amount()
		}
		if at(b.Best) != c.best || at(b.Above) != c.above || b.Says == "" {
			t.Errorf("%s: %v and %v, want %v and %v: %s", name, at(b.Best), at(b.Above), c.best, c.above, b.Says)
		}
	}
}

// A load is too much when throughput is no more than at a much smaller one and the wait explodes, when
// requests fail, or when this client is the limit. Steps of an eighth prove nothing.
func TestTooMuch(t *testing.T) {
	waits := func(ms float64) func(*Row) { return func(r *Row) { r.TTFT.P95 = ms } }
	base := level(16, 1000)
	for name, c := range map[string]struct {
		r    Row
		want string
	}{
		"flat and slow":          {level(32, 2000, waits(40)), "overload at 32 streams"},
		"flat, but quick":        {level(32, 2000), ""},
		"slow, but rising":       {level(32, 1500, waits(40)), ""},
		"a small step":           {level(18, 1125, waits(40)), ""},
		"failures":               {level(16, 1000, func(r *Row) { r.Failed = 10 }), "10 of 60 requests failed"},
		"few failures":           {level(16, 1000, func(r *Row) { r.Failed = 4 }), ""},
		"we are the limit":       {level(16, 1000, func(r *Row) { r.ClientBound, r.ClientWhy = true, "no CPU left" }), "this client is the bottleneck at 16 streams: no CPU left"},
		"all under the cap":      {Row{Load: frame.Load{Rate: 9, Concurrency: 64}, OK: 50, InFlight: opt.Of(62)}, "all 64 streams"},
		"not served":             {Row{Load: frame.Load{Rate: 9, Concurrency: 64}, OK: 50, RequestsPerS: opt.Of(7)}, "only 7.00 of 9 requests/s"},
		"served, by chance less": {Row{Load: frame.Load{Rate: 9, Concurrency: 64}, OK: 50, RequestsPerS: opt.Of(8)}, ""},
	} {
		got := tooMuch(&c.r, []Row{base, c.r})
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Three of ten requests are refused, and those that succeed are quick: that load is not held,
// although its latencies are within the limit. Who asks for a share of successes is judged by it.
func TestALoadThatIsRefusedMeetsNothing(t *testing.T) {
	quick := SLOResult{SLO: SLO{Text: "ttft_p95=1s", Metric: "ttft", Quantile: 0.95}, N: 70, Verdict: Meets, Confidence: opt.Of(0.97)}
	half := SLOResult{SLO: SLO{Text: "success=50", Metric: metricSuccess, SuccessShare: 0.5}, N: 100, Verdict: Meets, Confidence: opt.Of(0.99)}
	well, refused := level(2, 1000), level(4, 1000)
	well.SLOs, refused.SLOs = []SLOResult{quick}, []SLOResult{quick}
	refused.OK, refused.Failed = 70, 30
	b := FindBoundary([]Row{well, refused})
	if b.Best == nil || b.Best.Amount() != 2 || b.Above == nil || b.Above.Amount() != 4 || !strings.HasSuffix(b.Says, "; 4 streams miss: 30 of 100 requests failed") {
		t.Errorf("%+v", b)
	}
	refused.SLOs = []SLOResult{quick, half}
	if v := refused.Verdict(); v != Meets {
		t.Errorf("30 of 100 may fail: %v", v)
	}
	// All failed before the level had settled: there is no latency to judge.
	refused.Settled, refused.OK, refused.Failed = false, 0, 5
	refused.SLOs = []SLOResult{{SLO: quick.SLO}}
	if b := FindBoundary([]Row{refused}); b.Best != nil || b.Says != "no load meets the service levels: 4 streams miss: 5 of 5 requests failed" {
		t.Errorf("%+v", b)
	}
}
