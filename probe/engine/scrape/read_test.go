package scrape

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

var parsedAt = time.Unix(1700000000, 0)

// read takes one page apart, as the only one of its engine.
func read(page prom.Page, fits []*kinds.Kind, model string, at time.Time) (snapshot, error) {
	return newFactBook().read(page, fits, subject{model: model}, at)
}

// readable parses a page and finds the engines whose tables fit.
func readable(text string) (prom.Page, []*kinds.Kind, error) {
	page, err := newParser().Parse([]byte(text))
	return page, fitting(page, kinds.All), err
}

// take reads a page of text as a source would.
func take(t *testing.T, text, model string) snapshot {
	t.Helper()
	page, fits, err := readable(text)
	if err != nil || len(fits) == 0 {
		t.Fatalf("page is not readable: %v", err)
	}
	s, err := read(page, fits, model, parsedAt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func check(t *testing.T, what string, got opt.Float, want float64) {
	t.Helper()
	if !got.OK || !near(got.V, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestRouterPageIsNoted(t *testing.T) {
	got := take(t, fixture(t, "vllm-production-stack-router.txt"), "")
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "router") {
		t.Errorf("notes = %q, want one about the router", got.Notes)
	}
}

func TestOldAndNewNames(t *testing.T) {
	oldKV, newKV := "vllm:gpu_cache_usage_perc 0.42\n", "vllm:kv_cache_usage_perc 0.42\n"
	histogram := func(name string) string {
		return "vllm:" + name + "_bucket{le=\"0.1\"} 3\nvllm:" + name + "_bucket{le=\"+Inf\"} 4\nvllm:" + name + "_sum 1\nvllm:" + name + "_count 4\n"
	}
	oldGap, newGap := histogram("time_per_output_token_seconds"), histogram("inter_token_latency_seconds")
	for name, page := range map[string]string{"old": oldKV + oldGap, "new": newKV + newGap, "both": oldKV + newKV + oldGap + newGap} {
		got := take(t, page, "")
		check(t, name+": kv fill", got.KVFill, 0.42)
		check(t, name+": kv fill max", got.KVFillMax, 0.42)
		if got.Gap.Count != 4 {
			t.Errorf("%s: %v gaps, want 4", name, got.Gap.Count)
		}
	}
}

func TestFillIsAFraction(t *testing.T) {
	check(t, "full", take(t, "vllm:kv_cache_usage_perc 1", "").KVFill, 1)
	check(t, "SGLang's", take(t, "sglang:token_usage 0.37", "").KVFill, 0.37)
	check(t, "half a percent", take(t, "vllm:kv_cache_usage_perc 0.005", "").KVFill, 0.005)
	got := take(t, "vllm:kv_cache_usage_perc 85", "")
	if got.KVFill.OK || got.KVFillMax.OK {
		t.Errorf("85 gives %v, %v; want unknown", got.KVFill, got.KVFillMax)
	}
	if want := "KV cache fill 85 is out of range: the page should give a fraction from 0 to 1"; !reflect.DeepEqual(got.Notes, []string{want}) {
		t.Errorf("notes = %q, want %q", got.Notes, want)
	}
}

// twoRanks is a page of two engines, with more labels where asked.
func twoRanks(labels string) string {
	page := `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 5
vllm:num_requests_waiting{engine="0"} 0
vllm:num_requests_waiting{engine="1"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.20
vllm:kv_cache_usage_perc{engine="1"} 0.60
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 80
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5"} 100
vllm:time_to_first_token_seconds_bucket{engine="0",le="1"} 100
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 100
vllm:time_to_first_token_seconds_bucket{engine="1",le="0.1"} 0
vllm:time_to_first_token_seconds_bucket{engine="1",le="0.5"} 20
vllm:time_to_first_token_seconds_bucket{engine="1",le="1"} 100
vllm:time_to_first_token_seconds_bucket{engine="1",le="+Inf"} 100
vllm:time_to_first_token_seconds_sum{engine="0"} 10
vllm:time_to_first_token_seconds_sum{engine="1"} 60
vllm:time_to_first_token_seconds_count{engine="0"} 100
vllm:time_to_first_token_seconds_count{engine="1"} 100
`
	return strings.ReplaceAll(page, "{", "{"+labels)
}

func checkTwoRanks(t *testing.T, got snapshot) {
	t.Helper()
	check(t, "running", got.Running, 8)
	check(t, "waiting", got.Waiting, 2)
	check(t, "kv mean", got.KVFill, 0.40)
	check(t, "kv max", got.KVFillMax, 0.60)
	for q, want := range map[float64]float64{0.50: 0.30, 0.95: 0.9375} {
		if v, _, ok := got.TTFT.Quantile(q); !ok || !near(v, want) {
			t.Errorf("TTFT quantile %v = %v (%v), want %v", q, v, ok, want)
		}
	}
	if got.TTFT.Sum != 70 {
		t.Errorf("TTFT sum = %v, want 70", got.TTFT.Sum)
	}
}

func TestRanksAreMerged(t *testing.T) { checkTwoRanks(t, take(t, twoRanks(""), "")) }

func TestOnlyTheChosenModel(t *testing.T) {
	other := strings.NewReplacer("} 3\n", "} 30\n", "} 5\n", "} 50\n", "0.20", "0.90", "} 80\n", "} 100\n").Replace(twoRanks(`model_name="b",`))
	page := twoRanks(`model_name="a",`) + other
	checkTwoRanks(t, take(t, page, "a"))
	b := take(t, page, "b")
	check(t, "running of b", b.Running, 80)
	check(t, "kv mean of b", b.KVFill, 0.75)

	parsed, fits, err := readable(page)
	if err != nil {
		t.Fatal(err)
	}
	_, err = read(parsed, fits, "c", time.Now())
	if want := "the metrics cover several models (a, b): choose one with --model"; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}

func TestOneModelUnderAnyName(t *testing.T) {
	checkTwoRanks(t, take(t, twoRanks(`model_name="Served/As",`), "something-else"))
}

func TestProcessesOfARankAreNotSummed(t *testing.T) {
	got := take(t, `vllm:num_requests_running{engine="0",pid="1"} 4
vllm:num_requests_running{engine="0",pid="2"} 3
vllm:num_requests_running{engine="1",pid="1"} 2
vllm:kv_cache_usage_perc{engine="0",pid="1"} 0.2
vllm:kv_cache_usage_perc{engine="0",pid="2"} 0
vllm:kv_cache_usage_perc{engine="1",pid="1"} 0.4
`, "")
	check(t, "running", got.Running, 6)
	check(t, "kv mean", got.KVFill, 0.3)
	check(t, "kv max", got.KVFillMax, 0.4)
}

func TestCapacity(t *testing.T) {
	tests := []struct {
		name, page string
		want       opt.Float
	}{
		{"size goes before blocks", `vllm:cache_config_info{block_size="16",num_gpu_blocks="100",kv_cache_size_tokens="1500"} 1`, opt.Of(1500)},
		{"blocks times size", `vllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1`, opt.Of(1600)},
		{"size is None", `vllm:cache_config_info{block_size="16",num_gpu_blocks="100",kv_cache_size_tokens="None"} 1`, opt.Of(1600)},
		{"not profiled", `vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1`, opt.Float{}},
		{"two ranks", `vllm:cache_config_info{engine="0",kv_cache_size_tokens="10"} 1` + "\n" + `vllm:cache_config_info{engine="1",kv_cache_size_tokens="20"} 1`, opt.Of(30)},
	}
	for _, tt := range tests {
		if got := take(t, tt.page, "").KVCapacityTokens; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestIrregularPages(t *testing.T) {
	got := take(t, "# HELP a x\n# TYPE a gauge\na{e=\"0\"} 1\n# HELP a x\n# TYPE a gauge\na{e=\"1\"} 2\nvllm:num_requests_running 3\n", "")
	check(t, "running", got.Running, 3)
	if !reflect.DeepEqual(got.Notes, []string{"irregular page: repeated HELP or TYPE lines"}) {
		t.Errorf("notes = %q, want one about the page", got.Notes)
	}
	got = take(t, `# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{le="1"} 1 # {trace_id="x"} 0.5
vllm:time_to_first_token_seconds_bucket{le="+Inf"} 1
vllm:time_to_first_token_seconds_sum 1
vllm:time_to_first_token_seconds_count 1
vllm:time_to_first_token_seconds_created 1.7e9
vllm:num_requests_running 3
# EOF
`, "")
	check(t, "running", got.Running, 3)
	if got.TTFT.Count != 1 || got.TTFT.Sum != 1 {
		t.Errorf("TTFT = %v, want one observation of 1 s", got.TTFT)
	}
	nan := take(t, "vllm:num_requests_running NaN\nvllm:kv_cache_usage_perc NaN\nvllm:generation_tokens_total NaN\n", "")
	if nan.Running.OK || nan.KVFill.OK || nan.GenerationTokens.OK {
		t.Errorf("NaN must stay unknown: %+v", nan.Reading)
	}
}

// FuzzRead checks what must hold of any two pages, whatever they contain.
func FuzzRead(f *testing.F) {
	f.Add(twoRanks(""), twoRanks(`pid="1",`))
	f.Add("vllm:kv_cache_usage_perc -1\nvllm:prefix_cache_queries_total 1e308\nvllm:prefix_cache_hits_total 1", "vllm:kv_cache_usage_perc 85\nvllm:prefix_cache_queries_total +Inf")
	f.Add("vllm:e2e_request_latency_seconds_bucket{le=\"x\"} 1\nvllm:e2e_request_latency_seconds_bucket{le=\"-1\"} -5", "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} NaN")
	for _, pages := range [][2]string{
		{"sglang:num_running_reqs{dp_rank=\"0\",tp_rank=\"1\",priority=\"\"} 1e308\nsglang:realtime_tokens_total{mode=\"decode\"} 1", "sglang:realtime_tokens_total{mode=\"decode\"} 9e307"},
		{"trtllm_kv_cache_used_blocks 5\ntrtllm_kv_cache_max_blocks 0\ntrtllm_kv_cache_tokens_per_block 1e308", "trtllm_kv_cache_max_blocks 1e308\ntrtllm_kv_cache_tokens_per_block 32"},
		{"nv_trt_llm_request_metrics{request_type=\"scheduled\",model=\"a\"} 1\nnv_inference_queue_duration_us 5\nnv_inference_request_success 0", "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"used\"} 7"},
		{"llamacpp:tokens_predicted_total 1.23457e+06", "llamacpp:tokens_predicted_total 1.23458e+06"},
		{"llm_d_epp_average_queue_size -1\nllm_d_epp_ready_endpoints 2", "inference_pool_average_kv_cache_utilization 0.5"},
		{"dynamo_component_kvstats_gpu_cache_usage_percent 0.5", "dynamo_frontend_model_total_kv_blocks{model=\"A\"} 1\ndynamo_frontend_inflight_requests{model=\"a\"} 1"},
	} {
		f.Add(pages[0], pages[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var prev *snapshot
		for i, text := range []string{first, second} {
			page, fits, err := readable(text)
			if err != nil || len(fits) == 0 {
				return
			}
			s, err := read(page, fits, "", time.Unix(int64(i), 0))
			if err != nil {
				return
			}
			s.since(prev)
			prev = &s
			for what, v := range map[string]opt.Float{"kv": s.KVFill, "kv max": s.KVFillMax, "hit rate": s.PrefixHitRate} {
				if v.OK && !(v.V >= 0 && v.V <= 1) {
					t.Errorf("%s = %v is no fraction", what, v)
				}
			}
			checkFinite(t, &s.Reading)
			if s.GenerationTokensPerS.V < 0 || s.PromptTokensPerS.V < 0 {
				t.Errorf("negative rates: %v, %v", s.GenerationTokensPerS, s.PromptTokensPerS)
			}
			if v, _, ok := s.E2E.Quantile(0.5); ok && !finite(v) {
				t.Errorf("median = %v", v)
			}
		}
	})
}

// checkFinite sees that neither NaN nor infinities get into a reading.
func checkFinite(t *testing.T, r *engine.Reading) {
	t.Helper()
	for f := range r.Origins {
		if v := r.Figure(f); v != nil && (!v.OK || !finite(v.V)) {
			t.Errorf("%s = %v", f, v)
		}
	}
	for _, rank := range r.KVByRank {
		if !(rank.Fill >= 0 && rank.Fill <= 1) {
			t.Errorf("fill of rank %q: %v", rank.Rank, rank.Fill)
		}
	}
	for _, v := range []opt.Float{r.GenerationTokensPerS, r.PromptTokensPerS, r.PrefixHitRate, r.KVFill} {
		if v.OK && !finite(v.V) {
			t.Errorf("%v is no number", v)
		}
	}
}
