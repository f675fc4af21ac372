package plan

import (
	"strings"
	"testing"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/slo"
)

// sweepFile has three levels: 2, 3.2 and 3.3 requests a second with answers after
// 2, 2.5 and 4.8 s, of 1,000 + 100 tokens. The SLO is met up to concurrency 8.
const sweepFile = `{"schema": "sonde/summary/1", "knee": null, "best_within_slo": {"concurrency": 8, "rate": null}, "levels": [
 {"load": {"mode": "closed", "concurrency": 4, "rate": null}, "requests": {"ok": 60, "failed": 0}, "tokens": {"input": 60000, "output": 6000},
  "latency_ms": {"e2e": {"mean": 2000}, "ttft": {"p95": 300}}, "concurrency_mean": 4,
  "rates": {"requests_per_s": 2, "input_tokens_per_s": 2000, "output_tokens_per_s": 200}, "slo": [{"met": true}], "settled": true},
 {"load": {"mode": "closed", "concurrency": 8, "rate": null}, "requests": {"ok": 100, "failed": 0}, "tokens": {"input": 100000, "output": 10000},
  "latency_ms": {"e2e": {"mean": 2500}, "ttft": {"p95": 600}}, "concurrency_mean": 8,
  "rates": {"requests_per_s": 3.2, "input_tokens_per_s": 3200, "output_tokens_per_s": 320}, "slo": [{"met": true}], "settled": true},
 {"load": {"mode": "closed", "concurrency": 16, "rate": null}, "requests": {"ok": 99, "failed": 1}, "tokens": {"input": 99000, "output": 9900},
  "latency_ms": {"e2e": {"mean": 4800}, "ttft": {"p95": 2600}}, "concurrency_mean": 16,
  "rates": {"requests_per_s": 3.3, "input_tokens_per_s": 3300, "output_tokens_per_s": 330}, "slo": [{"met": false}], "settled": true}
]}`

func sweep(t *testing.T, text string) *Sweep {
	t.Helper()
	s, err := ReadSweep([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// 20/s with 50 % headroom is 30/s; 30 / 3.2 = 9.375: ten replicas, 93.75 % in use.
// What was not given is what was measured: 1,000 + 100 tokens in 2.5 s.
func TestReplicas(t *testing.T) {
	p := made(t, Ask{Headroom: 0.5, Workloads: []Workload{{RequestsPerS: 20}}, Sweep: sweep(t, sweepFile)})
	r := p.Replicas
	if r.Needed == nil || *r.Needed != 10 || r.Level.Load != "concurrency 8" || len(r.Steps) != 1 {
		t.Fatalf("%+v at %+v", r, r.Level)
	}
	is(t, "ratio", r.Steps[0].Ratio, 9.375)
	is(t, "share", r.Share, 0.9375)
	is(t, "in flight", p.Total.Concurrency, 50)
}

// 6.4 / 3.2 is 2, not 3, whatever the last digits of the division are.
func TestAWholeNumberOfReplicas(t *testing.T) {
	for _, qps := range []float64{6.4, 6.4 * (1 + 1e-15), 0.1 * 64} {
		if p := made(t, Ask{Workloads: []Workload{{RequestsPerS: qps}}, Sweep: sweep(t, sweepFile)}); *p.Replicas.Needed != 2 {
			t.Errorf("%v: %d replicas", qps, *p.Replicas.Needed)
		}
	}
}

// Prompts four times as long at 1.6/s: by requests half a replica, by input tokens
// 6,400 / 3,200 = 2, by output tokens (300 each) 480 / 320 = 1.5.
func TestOtherLengthsFollowTheScarcestRate(t *testing.T) {
	p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1.6, Input: 4000, Output: 300}}, Sweep: sweep(t, sweepFile)})
	if *p.Replicas.Needed != 2 || len(p.Replicas.Steps) != 3 || !strings.Contains(strings.Join(p.Notes, " "), "a sweep with these lengths") {
		t.Errorf("%+v, notes %q", p.Replicas, p.Notes)
	}
	if p.Total.Concurrency.OK {
		t.Error("the latency of other lengths is unknown")
	}
}

// The service levels of the question come before those of the file: ttft_p95 is
// 300, 600 and 2,600 ms.
func TestOtherServiceLevels(t *testing.T) {
	for limit, want := range map[float64]string{500: "concurrency 4", 600: "concurrency 8", 3000: "concurrency 16"} {
		p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, sweepFile), SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.95, LimitMS: limit}}})
		if p.Replicas.Level == nil || p.Replicas.Level.Load != want {
			t.Errorf("limit %v: %+v", limit, p.Replicas.Level)
		}
	}
	slos := []slo.Target{{Metric: "success", SuccessShare: 1}}
	if p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, sweepFile), SLOs: slos}); p.Replicas.Level.Load != "concurrency 8" {
		t.Errorf("all must succeed: %+v", p.Replicas.Level)
	}
	p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, sweepFile), SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.95, LimitMS: 100}}})
	if p.Replicas.Needed != nil || !strings.Contains(p.Replicas.Why, "no level") {
		t.Errorf("%+v", p.Replicas)
	}
	_, err := Make(Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, sweepFile), SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.97, LimitMS: 1, Text: "ttft_p97=1ms"}}})
	if err == nil || !strings.Contains(err.Error(), "ttft_p97=1ms cannot be judged") {
		t.Error(err)
	}
}

// Where 30 of 100 requests fail, the latencies of the others prove nothing, unless the question
// is satisfied with fewer; 4 failures are chance.
func TestALevelThatFailsIsNotWithinTheSLO(t *testing.T) {
	var l report.Level
	l.LatencyMS.TTFT.P95 = opt.Of(100)
	quick := slo.Target{Metric: "ttft", Quantile: 0.95, LimitMS: 500}
	half := slo.Target{Metric: "success", SuccessShare: 0.5}
	for _, c := range []struct {
		ok, failed int
		slos       []slo.Target
		want       bool
	}{{70, 30, []slo.Target{quick}, false}, {70, 30, []slo.Target{quick, half}, true}, {6, 4, []slo.Target{quick}, true}, {95, 5, []slo.Target{quick}, true}} {
		l.Requests.OK, l.Requests.Failed = c.ok, c.failed
		if got, err := meets(&l, c.slos); got != c.want || err != nil {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// What the sweep itself marks is taken: its best level within the SLO, else the
// knee, else the busiest level.
func TestTheLevelThatTheSweepMarks(t *testing.T) {
	none := strings.NewReplacer(`{"concurrency": 8, "rate": null}`, `null`, `"slo": [{"met": true}]`, `"slo": []`, `"slo": [{"met": false}]`, `"slo": []`).Replace(sweepFile)
	for _, c := range []struct{ file, want string }{
		{strings.Replace(sweepFile, `{"concurrency": 8, "rate": null}`, `{"concurrency": 4, "rate": null}`, 1), "concurrency 4"},
		{strings.Replace(none, `"knee": null`, `"knee": {"concurrency": 8}`, 1), "concurrency 8"},
		{none, "concurrency 16"},
		{strings.ReplaceAll(sweepFile, `"rate": null`, `"rate": 5`), "rate 5"},
		{strings.Replace(strings.ReplaceAll(none, `"concurrency": 16`, `"concurrency": 2`), `"ok": 99`, `"ok": 0`, 1), "concurrency 8"},
	} {
		if p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, c.file)}); p.Replicas.Level.Load != c.want {
			t.Errorf("took %s, want %s", p.Replicas.Level.Load, c.want)
		}
	}
}

// A sweep that found no load within its SLO is believed, whatever a level's
// figures say: it judges by confidence. A bench is judged by its figures.
func TestNoLevelWithinTheSLO(t *testing.T) {
	none := strings.Replace(sweepFile, `{"concurrency": 8, "rate": null}`, `null`, 1)
	p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, none)})
	if p.Replicas.Needed != nil || p.Replicas.Why == "" {
		t.Errorf("%+v", p.Replicas)
	}
	bench := `{"schema": "sonde/summary/1", "load": {"concurrency": 4, "rate": null}, "requests": {"ok": 60}, "tokens": {"input": 60000, "output": 6000},
		"rates": {"requests_per_s": 2}, "slo": [{"met": MET}]}`
	for met, want := range map[string]int{"true": 3, "false": 0, "null": 0} {
		p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 5}}, Sweep: sweep(t, strings.Replace(bench, "MET", met, 1))})
		if got := p.Replicas.Needed; (want == 0) != (got == nil) || got != nil && *got != want {
			t.Errorf("met %s: %+v", met, p.Replicas)
		}
	}
	unsettled := strings.Replace(sweepFile, `"slo": [{"met": true}], "settled": true},`, `"slo": [{"met": true}], "settled": false},`, 1)
	slos := []slo.Target{{Metric: "ttft", Quantile: 0.95, LimitMS: 500}}
	if p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, unsettled), SLOs: slos}); p.Replicas.Level != nil {
		t.Errorf("a level that had not settled counts: %+v", p.Replicas.Level)
	}
}

// How sure the sweep was is told, without what would steer a terminal.
func TestWhatTheSweepSays(t *testing.T) {
	said := strings.Replace(sweepFile, `{"concurrency": 8, "rate": null}`, `{"concurrency": 8, "rate": null, "says": "8 streams,\u001b[2J\n confidence 56 %"}`, 1)
	p := made(t, Ask{Workloads: []Workload{{RequestsPerS: 1}}, Sweep: sweep(t, said)})
	if notes := strings.Join(p.Notes, "|"); !strings.Contains(notes, "the sweep: 8 streams,[2J confidence 56 %") {
		t.Errorf("%q", notes)
	}
}

func TestFilesThatAreNoSweep(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "not a JSON file",
		"hello":                        "not a JSON file",
		`{"schema":"sonde/record/1"}`:  "sonde/summary/1",
		`[]`:                           "not a JSON file",
		`{"schema":"sonde/summary/1"}`: "no request succeeded",
		`{"schema":"sonde/summary/1","levels":[]}`:                                                                "no request succeeded",
		`{"schema":"sonde/summary/1","levels":[{"rates":{"requests_per_s":"many"}}]}`:                             "damaged",
		`{"schema":"sonde/summary/1","levels":[{"rates":{"requests_per_s":0},"requests":{"ok":0,"failed":500}}]}`: "no request succeeded",
	} {
		if _, err := ReadSweep([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadSweep(f *testing.F) {
	f.Add([]byte(sweepFile))
	f.Add([]byte(`{"schema":"sonde/summary/1","rates":{"requests_per_s":1e308},"requests":{"ok":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ReadSweep(raw)
		if err != nil {
			return
		}
		p, err := Make(Ask{Workloads: []Workload{{RequestsPerS: 1e6, Input: 10, Output: 10}}, Sweep: s})
		if err == nil {
			isClean(t, p)
		}
	})
}
