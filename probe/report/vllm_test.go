package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// asVLLM writes a Summary and reads it as a script would.
func asVLLM(t *testing.T, s Summary) map[string]any {
	t.Helper()
	text, err := Render(s, "vllm", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
	var form map[string]any
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return form
}

// vllmNames are what `vllm bench serve` writes into its result file (0.11), less
// the lists of single requests.
const vllmNames = "date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency " +
	"duration completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput " +
	"total_token_throughput max_output_tokens_per_s max_concurrent_requests " +
	"mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms median_tpot_ms std_tpot_ms p99_tpot_ms " +
	"mean_itl_ms median_itl_ms std_itl_ms p99_itl_ms mean_e2el_ms median_e2el_ms std_e2el_ms p99_e2el_ms"

func TestVLLMNamesAreAllThere(t *testing.T) {
	form := asVLLM(t, Summary{})
	for name := range strings.FieldsSeq(vllmNames) {
		if _, there := form[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
	for name, value := range form {
		if number, is := value.(float64); is && number != 0 && name != "burstiness" {
			t.Errorf("%s is %v of an empty run", name, value)
		}
		if strings.HasSuffix(name, "_ms") && value != nil {
			t.Errorf("%s is %v without a sample", name, value)
		}
	}
	if form["date"] != nil || form["request_rate"] != "inf" || form["total_input_tokens"] != nil {
		t.Errorf("%v", form)
	}
}

// Samples of 2 4 4 4 5 5 7 9 ms: mean 5, deviation 2, median 4.5; p99 lies at rank
// 6.93 of 0 to 7: 7 + 0.93 × 2 = 8.86.
func TestVLLMFigures(t *testing.T) {
	ttft, gap := measure.NewDist(8), measure.NewDist(8)
	for _, v := range []float64{2, 4, 4, 4, 5, 5, 7, 9} {
		ttft.Add(v)
		gap.Add(10 * v)
	}
	s := Summary{
		Run: Run{
			Started: Instant{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, DurationS: opt.Of(30),
			Target: Target{URL: "http://h/v1/completions?key=…", Model: "org/m\u009b31m"},
			Load:   Load{Mode: "open", Mark: Mark{Concurrency: 64, Rate: opt.Of(2.5)}, Arrivals: "poisson"},
		},
		Requests: measure.Counts{Sent: 9, OK: 8, Failed: 1, ByClass: map[measure.Class]int{}},
		Tokens:   TokenCounts{Input: opt.Of(800), Output: 400}, LatencyMS: Latencies{TTFT: described(ttft), Gap: described(gap)},
		Rates: Rates{RequestsPerS: opt.Of(0.27), OutputPerS: opt.Of(13.3), TotalPerS: opt.Of(40)}, GoodputPerS: opt.Of(0.25),
	}
	form := asVLLM(t, s)
	for name, want := range map[string]any{
		"date": "20260102-030405", "backend": "openai", "endpoint_type": "openai", "label": "sonde", "model_id": "org/m\u009b31m", "tokenizer_id": nil,
		"num_prompts": 9.0, "request_rate": 2.5, "burstiness": 1.0, "max_concurrency": 64.0, "duration": 30.0, "completed": 8.0, "failed": 1.0,
		"total_input_tokens": 800.0, "total_output_tokens": 400.0, "request_throughput": 0.27, "request_goodput": 0.25,
		"output_throughput": 13.3, "total_token_throughput": 40.0, "mean_ttft_ms": 5.0, "median_ttft_ms": 4.5, "std_ttft_ms": 2.0,
		"p99_ttft_ms": 8.86, "mean_itl_ms": 50.0, "std_itl_ms": 20.0, "p99_itl_ms": 88.6, "mean_tpot_ms": nil, "std_tpot_ms": nil,
	} {
		got := form[name]
		if a, is := got.(float64); is {
			if b, _ := want.(float64); math.Abs(a-b) > 1e-9 {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		} else if got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	s.Load.Trace.Name, s.Load.Arrivals = "t.csv", ""
	if form := asVLLM(t, s); form["burstiness"] != nil {
		t.Errorf("burstiness of a trace is %v, want null", form["burstiness"])
	}
	s.Load.Trace.Name, s.Load.Arrivals = "", "gamma:2" // shape 1/CV²
	if form := asVLLM(t, s); form["burstiness"] != 0.25 {
		t.Errorf("burstiness of CV 2 is %v, want 0.25", form["burstiness"])
	}
	s.Load.Arrivals, s.Target.URL = "constant", "http://h/v1/chat/completions"
	if form := asVLLM(t, s); form["burstiness"] != nil || form["backend"] != "openai-chat" {
		t.Errorf("constant arrivals over chat: %v, %v", form["burstiness"], form["backend"])
	}
}

// The form of a Summary is a contract: what only other formats have stays out.
func TestTheSummaryHasNoDeviation(t *testing.T) {
	text, err := Render(Summary{}, "json", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if text = strings.ToLower(text); strings.Contains(text, "std") || strings.Contains(text, "poisson") {
		t.Error(text)
	}
}

func TestVLLMIsOneHarmlessLine(t *testing.T) {
	var s Summary
	s.Load.Concurrency, s.Target.Model = 8, "a\u009b"
	text, err := s.VLLM()
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := strings.Cut(text, "\n")
	if rest != "" || !json.Valid([]byte(line)) || !strings.Contains(line, `"max_concurrency":8`) || strings.ContainsRune(line, '\u009b') {
		t.Errorf("%q", text)
	}
}

func described(d *measure.Dist) Quantiles {
	s := d.Summary()
	return QuantilesOf(&s)
}
