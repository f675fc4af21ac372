package headless

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// contract is the documented form, with every key that must be there.
const contract = `{ "schema": "sonde/summary/1",
  "started": "2026-01-02T03:04:05.678Z", "duration_s": 30.0, "interrupted": false, "seed": 7,
  "target": {"url": "", "model": "", "engine": "vllm", "engine_version": "", "hardware": [{"name": "", "count": 1}], "hardware_why": null,
    "settings": {"max_model_len": null, "max_input_len": null, "max_running": null, "kv_capacity_tokens": null, "kv_capacity_blocks": null,
                 "kv_block_tokens": null, "ranks": null, "about": [], "why": null}},
  "load": {"mode": "closed", "concurrency": 16, "rate": null, "input_tokens": 1024, "output_tokens": 256, "prefix": "unique"},
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
  "verdict": [{"rule": "", "says": "", "evidence": []}] }`

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

// nasty is a server that answers with everything that could break a file.
func nasty() Summary {
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
	return summarise(Plan{Load: closed, Requests: 3, Seed: 7, Prefix: "unique"}, verdictful)
}

func decode(t *testing.T, s Summary) map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	return v
}

func TestJSONHasEveryKeyOfTheContract(t *testing.T) {
	var want any
	if err := json.Unmarshal([]byte(contract), &want); err != nil {
		t.Fatal(err)
	}
	got := decode(t, nasty())
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

func TestAnEmptyRunIsValidJSON(t *testing.T) {
	got := decode(t, NewAccumulator(Plan{}).Summary())
	for _, key := range []string{"started", "concurrency_mean", "little_ratio", "good_share"} {
		if v, there := got[key]; !there || v != nil {
			t.Errorf("%s = %v, %v", key, v, there)
		}
	}
	for _, key := range []string{"errors", "notes", "slo", "gpus", "verdict"} {
		if _, list := got[key].([]any); !list {
			t.Errorf("%s = %v is no list", key, got[key])
		}
	}
}

func TestTableFitsAndIsPlain(t *testing.T) {
	for _, width := range []int{80, 40} {
		var out bytes.Buffer
		if err := nasty().WriteTable(&out, width, false); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(out.String(), '\x1b') {
			t.Error("escape codes in plain text")
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("%d cells in a line for %d: %q", ansi.StringWidth(line), width, line)
			}
		}
	}
}

func TestTableShowsTheFigures(t *testing.T) {
	var out bytes.Buffer
	if err := nasty().WriteTable(&out, 80, true); err != nil {
		t.Fatal(err)
	}
	text := ansi.Strip(out.String())
	for _, want := range []string{
		"sent 3   ok 1   failed 2",
		"TTFT                1   50.0    50.0    50.0?   50.0?   50.0?   50.0?   50.0\n",
		"1 × rate_limited: =1+1",
		`1 × rate_limited: a,"b" c`,
		"GPUs", "SM 50.0 % · DRAM — · busy —",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTableOfEverything(t *testing.T) {
	const far = "an error message that is far longer than the eighty cells of a usual terminal, and so goes on below"
	s := nasty()
	s.Errors = append(s.Errors, ErrorCount{Class: measure.Timeout, Message: far, Count: 1200})
	s.Notes = append(s.Notes, "warm-up: 4 requests are in no count")
	s.Engine.RunningMean, s.Engine.KVFillMean, s.Engine.KVFillMax = opt.Of(15.96), opt.Of(0.4), opt.Of(0.63)
	s.Engine.LatencyMS.TTFT = Estimate{N: 40, P50: opt.Of(300), P95: opt.Of(937.5), Above: map[string]Number{"p99": opt.Of(1000)}}
	yes, no := true, false
	s.SLO = []SLOResult{
		{SLO: "ttft_p95=2s", Metric: "ttft", Actual: opt.Of(840), Met: &yes},
		{SLO: "success=99.9", Metric: "success", Actual: opt.Of(0.5), Met: &no},
		{SLO: "tpot_p95=40ms", Metric: "tpot"},
	}
	s.Verdict = []Verdict{{Rule: "r", Says: "all is lost", Evidence: []string{"everything"}, Advice: "go home"}}
	s.Interrupted = true
	var out bytes.Buffer
	if err := s.WriteTable(&out, 80, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"engine TTFT        40      —     300             938   >1000   est.",
		"running 16.0 mean · waiting — max · KV cache 40.0 % mean, 63.0 % max",
		"ttft_p95=2s                  met      840 ms",
		"success=99.9                 MISSED   50.0 %",
		"tpot_p95=40ms                unknown  — ms",
		" 1200 × timeout: an error message",
		" of a\n        usual terminal, and so goes on below\n",
		"- warm-up: 4 requests are in no count",
		"▲ all is lost\n    everything\n  → go home\n",
		"INTERRUPTED",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestCSVHasTheSameColumnsInEveryRow(t *testing.T) {
	var out bytes.Buffer
	other := summarise(Plan{Load: closed, Requests: 1}, frames(time.Second, closed, reqs(failed(0, measure.Timeout, "late")), nil))
	if err := WriteCSV(&out, []Summary{nasty(), other}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll() // fails on rows of unequal length
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	cell := func(row int, column string) string {
		i := slices.Index(rows[0], column)
		if i < 0 {
			t.Fatalf("no column %s in %q", column, rows[0])
		}
		return rows[row][i]
	}
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "target.model", `'=1+1|*\x1b[2J`},
		{1, "errors.0.message", "'=1+1"},
		{1, "errors.1.message", "a,\"b\"\nc"},
		{1, "latency_ms.ttft.p50", "50"},
		{1, "latency_ms.ttft.weak", "p90; p95; p99; p999"},
		{1, "little_ratio", cell(1, "little_ratio")},
		{1, "requests.by_class.rate_limited", "2"},
		{2, "requests.by_class.rate_limited", ""},
		{2, "requests.by_class.timeout", "1"},
		{2, "latency_ms.ttft.p50", ""},
		{2, "load.rate", ""},
	} {
		if got := cell(c.row, c.column); got != c.want {
			t.Errorf("row %d, %s = %q, want %q", c.row, c.column, got, c.want)
		}
	}
}

func TestNegativeNumbersAreNoFormulas(t *testing.T) {
	if got := (field{value: "-1.5"}).cell(); got != "-1.5" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{"-1.5": "'-1.5", "=1": "'=1", "+1": "'+1", "@a": "'@a", "\tx": `'\x09x`} {
		if got := (field{value: text, isText: true}).cell(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestMarkdownEscapesTheServersWords(t *testing.T) {
	var out bytes.Buffer
	if err := nasty().WriteMarkdown(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{`## =1+1\|\*`, "| TTFT | 1 | 50.0 | 50.0 | 50.0? |", "- 1 × `rate_limited`: =1+1", "| requests ok / failed / cancelled | 1 / 2 / 0 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Error("escape codes")
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 1.234: "1.23", 9.996: "10.0", 14.06: "14.1", 99.96: "100", 1234.4: "1234"} {
		if got := figure(opt.Of(v)); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if figure(opt.Float{}) != "—" || percent(opt.Float{}) != "—" {
		t.Error("unknown is no dash")
	}
}

func TestManyErrorMessagesAreBounded(t *testing.T) {
	var all []measure.Request
	for i := range 3 * maxMessages {
		all = append(all, failed(float64(i), measure.HTTP5xx, strings.Repeat("x", i)))
	}
	s := summarise(Plan{Load: closed, Requests: len(all)}, frames(time.Second, closed, all, nil))
	if len(s.Errors) != maxMessages+1 || s.Errors[0].Message != otherMessages || s.Errors[0].Count != 2*maxMessages {
		t.Errorf("%d messages, first %+v", len(s.Errors), s.Errors[0])
	}
}

// What a session remarks at every tick is told once, whatever else is told in between.
func TestNotesAreToldOnce(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	line := NewProgressLine(out)
	for _, note := range []string{"stopped for a while", "stopped for a while", "other", "stopped for a while"} {
		line.Notes(&frame.Frame{Events: []frame.Event{{Kind: frame.EventNote, Text: note}}})
	}
	raw, err := os.ReadFile(out.Name())
	if err != nil || string(raw) != "stopped for a while\nother\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// "connect: connection refused" needs no second "connect:" before it.
func TestAnErrorNamesItsClassOnce(t *testing.T) {
	for message, want := range map[string]string{"connect: connection refused": "connect: connection refused", "refused": "connect: refused"} {
		if got := (ErrorCount{Class: measure.Connect, Message: message}).named(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestProgressLine(t *testing.T) {
	p := Progress{Phase: Measuring, ElapsedS: 12.2, OfS: 30, Ended: 40, InFlight: 16, Failed: 2, OutTokensPS: opt.Of(1142)}
	if got := p.Line(); got != "measuring · 12 of 30 s · 40 requests · 16 in flight · 1142 tok/s · 2 failed" {
		t.Errorf("%q", got)
	}
}
