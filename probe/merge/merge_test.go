package merge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// part is a Summary whose TTFT has those samples; all else is the same in every part.
func part(name string, seed uint64, ttft ...float64) Part {
	p := Part{Name: name}
	s := &p.Summary
	s.Schema, s.Started, s.DurationS, s.Seed = report.Schema, report.Instant{Time: epoch}, opt.Of(10), seed
	s.Target.Model, s.Target.Engine, s.Target.URL = "llama", "vllm", "http://h:8000"
	s.Load = report.Load{Mode: "closed", Mark: report.Mark{Concurrency: 4}, InputTokens: opt.Of(256), OutputTokens: 64, Prefix: "unique"}
	n := len(ttft)
	s.Requests = measure.Counts{Sent: n + 1, OK: n, Failed: 1, ByClass: map[measure.Class]int{measure.Timeout: 1}}
	s.Errors = []report.ErrorCount{{Class: measure.Timeout, Message: "slow", Count: 1}}
	s.Tokens = report.TokenCounts{Input: opt.Of(256 * float64(n)), Output: 64 * n, Source: "usage", PerChunk: opt.Of(1)}
	s.Rates.RequestsPerS, s.Rates.OutputPerS, s.Rates.InputPerS = opt.Of(2), opt.Of(128), opt.Of(512)
	s.ConcurrencyMean = opt.Of(3.5)
	d, e2e := measure.NewDist(10), measure.NewDist(10)
	for _, ms := range ttft {
		d.Add(ms)
		e2e.Add(2000)
	}
	s.Distributions = &report.Distributions{}
	s.Distributions.LatencyMS.TTFT, s.Distributions.LatencyMS.E2E = d.Distribution(), e2e.Distribution()
	s.LatencyMS.TTFT = describe(d)
	s.Engine.RunningMean, s.Engine.KVFillMax = opt.Of(8), opt.Of(0.5)
	s.GPUs = []report.GPUFigures{{ID: "GPU-1", Name: "H100", SMMean: opt.Of(0.9)}}
	return p
}

func merged(t *testing.T, parts ...Part) report.Summary {
	t.Helper()
	s, err := Merge(parts, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Percentiles are those of one histogram of all samples, and those of the samples within its
// precision of 0.1 %.
func TestPercentilesAreThoseOfAllSamples(t *testing.T) {
	f := func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 5))
		var parts []Part
		one, exact := measure.NewDist(0), measure.NewDist(1<<20)
		for i := range 2 + r.IntN(4) {
			var samples []float64
			for range 1 + r.IntN(600) {
				samples = append(samples, math.Exp(r.NormFloat64()+float64(i)+3))
			}
			for _, ms := range samples {
				one.Add(ms)
				exact.Add(ms)
			}
			parts = append(parts, part(fmt.Sprint(i), uint64(i), samples...))
		}
		s, err := Merge(parts, false)
		if err != nil {
			t.Fatal(err)
		}
		got, want, truth := s.LatencyMS.TTFT, describe(one), describe(exact)
		near := func(a, b report.Number) bool { return math.Abs(a.V-b.V) <= 0.001*b.V+0.001 }
		return got.N == want.N && got.P50 == want.P50 && got.P95 == want.P95 && got.P99 == want.P99 && got.P999 == want.P999 &&
			got.Min == truth.Min && got.Max == truth.Max && math.Abs(got.Mean.V-truth.Mean.V) < 1e-3 && math.Abs(got.Std.V-truth.Std.V) < 1e-3 &&
			near(got.P50, truth.P50) && near(got.P95, truth.P95) && near(got.P99, truth.P99) && slices.Equal(got.Weak, truth.Weak)
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 30}); err != nil {
		t.Error(err)
	}
}

// Two clients with 4 streams each; rates 2 + 2 requests/s. Little: 7 in flight / (4/s × 2 s).
func TestSumsByHand(t *testing.T) {
	s := merged(t, part("a", 1, 10, 20), part("b", 2, 30, 40, 50))
	r := &s.Rates
	if s.Load.Concurrency != 8 || r.RequestsPerS.V != 4 || r.OutputPerS.V != 256 || r.RPM.V != 240 || r.TotalPerS.V != 1280 || s.ConcurrencyMean.V != 7 || s.LittleRatio.V != 0.875 {
		t.Errorf("rates %+v, load %+v, in flight %v, Little %v", r, s.Load, s.ConcurrencyMean, s.LittleRatio)
	}
	q := &s.Requests
	if q.OK != 5 || q.Failed != 2 || q.Sent != 7 || q.ByClass[measure.Timeout] != 2 || s.Tokens.Output != 320 || s.Tokens.Input.V != 1280 || s.Tokens.PerChunk.V != 1 {
		t.Errorf("%+v %+v", q, s.Tokens)
	}
	if len(s.Errors) != 1 || s.Errors[0].Count != 2 {
		t.Errorf("%+v", s.Errors)
	}
	if s.LatencyMS.TTFT.N != 5 || math.Abs(s.LatencyMS.TTFT.P50.V-30) > 0.03 || s.LatencyMS.TTFT.Mean.V != 30 {
		t.Errorf("%+v", s.LatencyMS.TTFT)
	}
	if s.Engine.RunningMean.V != 8 || s.Engine.KVFillMax.V != 0.5 || len(s.GPUs) != 1 || s.DurationS.V != 10 || s.Seed != 0 || len(s.Clients) != 2 || s.Clients[1].Seed != 2 || s.Clients[1].Name != "b" || s.Clients[1].OK != 3 {
		t.Errorf("engine %+v, GPUs %+v, clients %+v", s.Engine, s.GPUs, s.Clients)
	}
}

// The counts of a file are added, the maps of the parts stay as they are, and the result can be
// written, read and merged again.
func TestTheResultIsASummary(t *testing.T) {
	a, b, c := part("a", 1, 10, 20), part("b", 2, 30), part("c", 3, 40)
	both := merged(t, a, b)
	text, err := report.Render(both, "json", 80, false)
	if err != nil {
		t.Fatal(err)
	}
	file, err := report.ReadFile([]byte(text))
	if err != nil || !file.Single {
		t.Fatal(err)
	}
	all := merged(t, Part{"ab", file.Levels[0].Summary}, c)
	at := merged(t, a, b, c)
	if fmt.Sprint(all.LatencyMS) != fmt.Sprint(at.LatencyMS) || len(all.Clients) != 3 || all.Requests.OK != 4 || a.Requests.ByClass[measure.Timeout] != 1 {
		t.Errorf("%+v", all)
	}
	for _, format := range []string{"table", "md", "csv", "vllm"} {
		if text, err := report.Render(all, format, 80, false); err != nil || strings.Contains(text, "NaN") {
			t.Errorf("%s: %v %s", format, err, text)
		}
	}
}

// Each SLO is judged on all samples: a misses p50 ≤ 25 ms alone, together they meet it.
func TestSLOsAreJudgedAgain(t *testing.T) {
	a, b := part("a", 1, 100, 100), part("b", 2, 10, 10, 10, 10, 10)
	missed, met := false, true
	a.SLO = []report.SLOResult{{SLO: "ttft_p50=25ms", Metric: "ttft", Met: &missed}, {SLO: "success=99", Metric: "success", Met: &missed}}
	b.SLO = []report.SLOResult{{SLO: "ttft_p50=25ms", Metric: "ttft", Met: &met}, {SLO: "success=99", Metric: "success", Met: &missed}}
	a.Verdict = []report.Verdict{{Rule: "slo", Says: "missed ttft_p50=25ms: it is 100 ms"}, {Rule: "kv", Says: "KV 91 %", Evidence: []string{"x"}}}
	b.Verdict = []report.Verdict{{Rule: "kv", Says: "KV 92 %", Evidence: []string{"y"}}, {Rule: "healthy", Says: "all well"}}
	s := merged(t, a, b)
	if r := s.SLO[0]; r.Met == nil || !*r.Met || math.Abs(r.Actual.V-10) > 0.01 {
		t.Errorf("%+v", r)
	}
	if r := s.SLO[1]; r.Met == nil || *r.Met || math.Abs(r.Actual.V-7.0/9) > 1e-6 {
		t.Errorf("%+v", r)
	}
	var says []string
	for _, v := range s.Verdict {
		says = append(says, v.Rule+": "+v.Says+" "+fmt.Sprint(v.Evidence))
	}
	want := []string{"slo: missed success=99: it is 77.8 % []", "kv: a: KV 91 % [x b: KV 92 %]"}
	if !slices.Equal(says, want) || s.ExitCode() != 1 {
		t.Errorf("%q, want %q", says, want)
	}
}

// Two clients of an open loop that replay shares of a trace: rates, ramps and counts add up, the
// longest wait is the longest of any, and incidents keep their client.
func TestOpenLoopAndIncidents(t *testing.T) {
	a, b := part("a", 1, 10), part("b", 2, 20)
	for i, p := range []*Part{&a, &b} {
		l := &p.Load
		l.Mode, l.Rate = "open", opt.Of(2.5)
		l.Ramp = report.Ramp{From: opt.Of(1), To: opt.Of(2.5), OverS: opt.Of(30)}
		l.Trace = report.Trace{Name: "t", Arrivals: opt.Of(100), Sent: opt.Of(90), LongestWaitMS: opt.Of(float64(7 * i))}
		p.Incidents = []report.Incident{{Rule: "kv", Says: "KV full", FromS: opt.Of(3)}}
	}
	s := merged(t, a, b)
	l := &s.Load
	if l.Rate.V != 5 || l.Ramp.From.V != 2 || l.Ramp.To.V != 5 || l.Ramp.OverS.V != 30 || l.Trace.Arrivals.V != 200 || l.Trace.Sent.V != 180 || l.Trace.LongestWaitMS.V != 7 || l.Trace.Cut.OK {
		t.Errorf("%+v", l)
	}
	if len(s.Incidents) != 2 || s.Incidents[1].Says != "b: KV full" {
		t.Errorf("%+v", s.Incidents)
	}
	b.Load.Trace.Name = "u"
	if _, err := Merge([]Part{a, b}, false); err == nil || !strings.Contains(err.Error(), "trace is t in a and u in b") {
		t.Error(err)
	}
}

func TestDoubtsKeepTheirNames(t *testing.T) {
	a, b := part("a", 7, 10), part("b", 7, 20)
	a.Client.Bottleneck, a.Client.LateMSP99, b.Client.LateMSP99 = true, opt.Of(5), opt.Of(0.2)
	a.Notes, b.Notes = []string{"this client was the bottleneck", "warm-up"}, []string{"warm-up"}
	b.Engine.RunningMean, b.Target.URL = opt.Of(4), "http://other:8000"
	b.Started = report.Instant{Time: epoch.Add(5 * time.Second)}
	s := merged(t, a, b)
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{
		"measured together for only 5.0 of 15.0 s", "a and b read different engine figures: running 8 and 4", "used 2 addresses",
		"a and b sent the same prompts (seed 7)", "a: this client was the bottleneck", "\nwarm-up",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if !s.Client.Bottleneck || s.Client.LateMSP99.V != 5 || !s.Clients[0].Bottleneck || s.Clients[1].Bottleneck || s.DurationS.V != 15 {
		t.Errorf("%+v %+v", s.Client, s.Clients)
	}
}

func TestWhatIsNotOneTest(t *testing.T) {
	for want, spoil := range map[string]func(*Part){
		"model is llama in a and qwen in b":        func(p *Part) { p.Target.Model = "qwen" },
		"prefix is unique in a and shared in b":    func(p *Part) { p.Load.Prefix = "shared" },
		"output is 64 in a and 128 in b":           func(p *Part) { p.Load.OutputTokens = 128 },
		"SLO list is unknown in a and ttft_p95=1s": func(p *Part) { p.SLO = []report.SLOResult{{SLO: "ttft_p95=1s"}} },
		"did not run at the same time":             func(p *Part) { p.Started.Time = epoch.Add(time.Minute) },
		"a and b are the same run":                 func(p *Part) { p.Seed = 1 },
		"b has no distributions":                   func(p *Part) { p.Distributions = nil },
		"the distribution of ttft cannot be add":   func(p *Part) { p.Distributions.LatencyMS.TTFT.HDR = "x" },
	} {
		a, b := part("a", 1, 10), part("b", 2, 20)
		spoil(&b)
		if _, err := Merge([]Part{a, b}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		s, err := Merge([]Part{a, b}, true)
		if possible := !strings.Contains(want, "distribution"); (err == nil) != possible || possible && !strings.Contains(strings.Join(s.Notes, "\n"), "merged by force: ") {
			t.Errorf("%s: by force %v, %v", want, err, s.Notes)
		}
	}
	if _, err := Merge([]Part{part("a", 1, 10)}, true); err == nil {
		t.Error("one file was merged")
	}
}

// Two clients on hosts of one H100 each: the hardware is two of them. A client that saw all GPUs knows
// that three parts (MIG) are one.
func TestHardwareIsThatOfAllClients(t *testing.T) {
	a, b := part("a", 1, 5), part("b", 2, 5)
	a.Target.Hardware, b.Target.Hardware = []report.Hardware{{Name: "H100", Count: 1}}, []report.Hardware{{Name: "H100", Count: 1}}
	b.GPUs = []report.GPUFigures{{ID: "GPU-2", Name: "H100"}}
	if h := merged(t, a, b).Target.Hardware; len(h) != 1 || h[0] != (report.Hardware{Name: "H100", Count: 2}) {
		t.Errorf("hardware of two hosts is %v", h)
	}
	b.GPUs = []report.GPUFigures{{ID: "GPU-1", Name: "H100"}, {ID: "MIG-1", Name: "H100"}, {ID: "MIG-2", Name: "H100"}}
	if h := merged(t, a, b).Target.Hardware; len(h) != 1 || h[0].Count != 1 {
		t.Errorf("hardware of a GPU in parts is %v", h)
	}
}

// A merged file goes on to other formats: vLLM's burstiness of Poisson arrivals is 1.
func TestArrivalsOfAMergedFile(t *testing.T) {
	a, b := part("a", 1, 5), part("b", 2, 5)
	for _, p := range []*Part{&a, &b} {
		p.Load.Mode, p.Load.Rate, p.Load.Arrivals = "open", opt.Of(2), "poisson"
	}
	text, err := merged(t, a, b).VLLM()
	if err != nil || !strings.Contains(text, `"burstiness":1,`) {
		t.Errorf("%v in %s", err, text)
	}
}
