package report

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// contract is the documented form, with every key that must be there.
const contract = `{ "schema": "sonde/summary/1",
  "started": "2026-01-02T03:04:05.678Z", "duration_s": 30.0, "interrupted": false, "ended_early": null, "seed": 7,
  "target": {"url": "", "model": "", "engine": "vllm", "engine_version": "", "hardware": [{"name": "", "count": 1}], "hardware_why": null,
    "settings": {"max_model_len": null, "max_input_len": null, "max_running": null, "kv_capacity_tokens": null, "kv_capacity_blocks": null,
                 "kv_block_tokens": null, "ranks": null, "about": [], "why": null}},
  "load": {"mode": "closed", "concurrency": 16, "rate": null, "input_tokens": 1024, "output_tokens": 256, "prefix": "unique", "arrivals": null,
   "ramp": {"from": null, "to": null, "over_s": null},
   "trace": {"name": null, "length_s": null, "arrivals": null, "sent": null, "waited": null, "longest_wait_ms": null, "missed": null, "left_out": null,
     "cut": null, "cut_to": null, "skipped": null}},
  "requests": {"sent": 0, "ok": 0, "failed": 0, "cancelled": 0, "excluded": 0, "by_class": {"rate_limited": 0}},
  "errors": [{"class": "rate_limited", "message": "", "count": 0}], "notes": [],
  "tokens": {"input": 0, "output": 0, "partial_output": 0, "reasoning": 0, "cached_input": 0, "source": "usage", "per_chunk": 1.0},
  "lengths": {"input": {}, "output": {}},
  "latency_ms": {
    "ttft": {"n": 0, "mean": null, "min": null, "p50": null, "p90": null, "p95": null, "p99": null, "p999": null, "max": null, "weak": []},
    "ttfa": {}, "tpot": {}, "gap": {}, "e2e": {}, "setup": {}, "client_queue": {}, "from_schedule": {} },
  "rates": {"requests_per_s": 0, "output_tokens_per_s": 0, "input_tokens_per_s": 0, "total_tokens_per_s": 0,
            "rpm": 0, "input_tpm": 0, "output_tpm": 0, "total_tpm": 0, "output_tokens_per_s_per_stream": 0},
  "concurrency_mean": 0, "little_ratio": null, "goodput_per_s": null, "good_share": null, "slo": [],
  "engine": {"running_mean": null, "waiting_max": null, "kv_fill_mean": null, "kv_fill_max": null,
             "preemptions": null, "prefix_hit_rate": null, "output_tokens_per_s": null,
             "latency_ms": {"ttft": {"n": 0, "mean": null, "p50": null, "p95": null, "p99": null, "above": {}},
                            "gap": {}, "queue": {}, "e2e": {}}},
  "gpus": [{"id": "", "name": "", "sm_mean": null, "dram_mean": null, "busy_mean": null, "mem_used_max": null,
            "power_w_mean": null, "source": "nvml-gpm"}],
  "roofline": {"tpot_floor_ms": null, "ttft_floor_ms": null, "mbu": null, "mfu": null},
  "client": {"stamps": "kernel", "late_ms_p99": 0, "cpu": 0, "coalesced_share": 0, "bottleneck": false},
  "verdict": [{"rule": "", "says": "", "evidence": []}],
  "incidents": [],
  "distributions": {
    "latency_ms": {"ttft": {"n": 1, "sum": 50, "squares": 0, "min": 50, "max": 50, "hdr_unit": "us", "hdr_digits": 3, "hdr": ""},
                   "ttfa": {}, "tpot": {}, "gap": {}, "e2e": {}, "setup": {}, "client_queue": {}, "from_schedule": {}},
    "lengths": {"input": {}, "output": {"n": 1, "sum": 3, "squares": 0, "min": 3, "max": 3, "hdr_unit": "token", "hdr_digits": 3, "hdr": ""},
                "requested_input": null, "requested_output": {}}} }`

// sameKeys compares the keys of want with those of got, all the way down.
func sameKeys(t *testing.T, path string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is %v", path, got)
			return
		}
		if len(w) == 0 {
			return // written as "the same as above" there
		}
		if a, b := slices.Sorted(maps.Keys(w)), slices.Sorted(maps.Keys(g)); !slices.Equal(a, b) {
			t.Errorf("%s has the keys %v, want %v", path, b, a)
		}
		for k := range w {
			sameKeys(t, path+"."+k, w[k], g[k])
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			t.Errorf("%s is %v, no list", path, got)
			return
		}
		if len(w) > 0 && len(g) > 0 {
			sameKeys(t, path+"[0]", w[0], g[0])
		}
	}
}

// nastyRun is of a server that answers with everything that could break a file.
func nastyRun() Summary {
	good := stream(0, 50, 10, 3)
	bad := failed(0, measure.RateLimited, "a,\"b\"\nc")
	formula := failed(10, measure.RateLimited, "=1+1")
	verdictful := frames(time.Second, closed, reqs(good, bad, formula), func(f *frame.Frame) {
		f.Target.Started, f.Target.URL = epoch, "http://h:8000/v1/chat/completions"
		f.Engine.Identity = engine.Identity{Kind: "vllm", Model: "=1+1|*\x1b[2J", Version: "0.11"}
		f.Engine.Have = true
		f.Engine.Reading.Running = opt.Float{V: math.NaN(), OK: true}
		f.GPU.GPUs = []gpu.Reading{{ID: "GPU-a", Name: "H100", SM: opt.Of(0.5), Power: opt.Of(math.Inf(1))}}
		f.Client.OutTokensPerS = math.NaN()
		f.Health.LateMsP99 = math.NaN()
	})
	return summarise(bench.Plan{Load: closed, Requests: 3, Seed: 7, Prefix: "unique"}, verdictful)
}

func decode(t *testing.T, s Summary) map[string]any {
	t.Helper()
	text, err := Render(s, "json", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

func TestJSONHasEveryKeyOfTheContract(t *testing.T) {
	var want any
	if err := json.Unmarshal([]byte(contract), &want); err != nil {
		t.Fatal(err)
	}
	got := decode(t, nastyRun())
	sameKeys(t, "summary", want, any(got))
	if got["started"] != "2026-01-02T03:04:05.678Z" {
		t.Errorf("started %v", got["started"])
	}
	if gpus := got["gpus"].([]any); len(gpus) != 1 || gpus[0].(map[string]any)["power_w_mean"] != nil {
		t.Errorf("gpus %v", gpus)
	}
	if got["target"].(map[string]any)["model"] != "=1+1|*\x1b[2J" {
		t.Errorf("the model's name was changed: %v", got["target"])
	}
}

// The whole distributions say the same as their description, and are in no cell of a CSV.
func TestDistributionsAreThoseThatAreDescribed(t *testing.T) {
	s := summarise(bench.Plan{Load: closed, Requests: 2}, frames(time.Second, closed, reqs(stream(0, 50, 10, 3), stream(0, 70, 10, 3)), nil))
	d := s.Distributions.LatencyMS.TTFT
	if d.N != 2 || d.Sum != 120 || d.Squares != 200 || d.Min != 50 || d.Max != 70 || d.N != s.LatencyMS.TTFT.N {
		t.Errorf("%+v", d)
	}
	sheet, err := s.CSV()
	levels, err2 := SweepSummary{Levels: []Level{{Summary: s}}}.CSV()
	if err != nil || err2 != nil || strings.Contains(sheet+levels, "distributions") || s.Distributions == nil {
		t.Errorf("%v, %v in\n%s\n%s", err, err2, sheet, levels)
	}
}

func TestAnEmptyRunIsValidJSON(t *testing.T) {
	got := decode(t, newRun(bench.Plan{}).Summary())
	for _, key := range []string{"started", "concurrency_mean", "little_ratio", "good_share"} {
		if v, there := got[key]; !there || v != nil {
			t.Errorf("%s = %v, %v", key, v, there)
		}
	}
	for _, key := range []string{"errors", "notes", "slo", "gpus", "verdict", "incidents"} {
		if _, list := got[key].([]any); !list {
			t.Errorf("%s = %v is no list", key, got[key])
		}
	}
}

func TestManyErrorMessagesAreBounded(t *testing.T) {
	var all []measure.Request
	const most = 100 // distinct messages
	for i := range 3 * most {
		all = append(all, failed(float64(i), measure.HTTP5xx, strings.Repeat("x", i)))
	}
	s := summarise(bench.Plan{Load: closed, Requests: len(all)}, frames(time.Second, closed, all, nil))
	if len(s.Errors) != most+1 || s.Errors[0].Message != "(other messages)" || s.Errors[0].Count != 2*most {
		t.Errorf("%d messages, first %+v", len(s.Errors), s.Errors[0])
	}
}
