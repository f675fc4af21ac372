package scrape

import (
	"testing"

	"sonde/probe/engine"
)

// With metrics of all schedulers on, every tensor-parallel rank repeats the numbers
// of its data-parallel rank. Rank 1 starts at a higher tensor-parallel rank.
func TestPartsOfARankAreNotSummed(t *testing.T) {
	got := take(t, `sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 16
sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 17
sglang:num_running_reqs{dp_rank="1",tp_rank="10"} 12
sglang:num_running_reqs{dp_rank="1",tp_rank="2"} 13
sglang:token_usage{dp_rank="0",tp_rank="0"} 0.5
sglang:token_usage{dp_rank="0",tp_rank="1"} 0.4
sglang:token_usage{dp_rank="1",tp_rank="2"} 0.1
sglang:max_total_num_tokens{dp_rank="0",tp_rank="0"} 300
sglang:max_total_num_tokens{dp_rank="0",tp_rank="1"} 300
sglang:max_total_num_tokens{dp_rank="1",tp_rank="2"} 100
`, "")
	check(t, "running: 17 + 13", got.Running, 30)
	check(t, "capacity: 300 + 100", got.KVCapacityTokens, 400)
	check(t, "fill: (300 × 0.5 + 100 × 0.1) / 400", got.KVFill, 0.4)
	check(t, "fullest", got.KVFillMax, 0.5)
	if got.Ranks != 2 || len(got.KVByRank) != 2 || got.KVByRank[0] != (engine.RankFill{Rank: "0", Fill: 0.5}) {
		t.Errorf("%d ranks, %v", got.Ranks, got.KVByRank)
	}
}

func TestPrioritiesArePartsOfTheTotal(t *testing.T) {
	got := take(t, `sglang:num_running_reqs{dp_rank="0",priority=""} 9
sglang:num_running_reqs{dp_rank="0",priority="0"} 6
sglang:num_running_reqs{dp_rank="0",priority="10"} 3
sglang:num_running_reqs{dp_rank="1"} 4
sglang:num_running_reqs{dp_rank="1",priority="0"} 4
sglang:num_queue_reqs{dp_rank="0",priority="0"} 2
sglang:num_queue_reqs{dp_rank="0",priority="10"} 1
`, "")
	check(t, "running: totals only", got.Running, 13)
	check(t, "waiting: no total, so the parts", got.Waiting, 3)
}

// A gauge and its deprecated twin, one of them once per process.
func TestProcessesBesideATwin(t *testing.T) {
	got := take(t, `vllm:kv_cache_usage_perc{engine="0",pid="11"} 0
vllm:kv_cache_usage_perc{engine="0",pid="12"} 0.4
vllm:gpu_cache_usage_perc{engine="0"} 0.4
vllm:prompt_tokens_total{engine="0",pid="11"} 5
vllm:prompt_tokens_total{engine="0",pid="12"} 7
`, "")
	check(t, "fill", got.KVFill, 0.4)
	check(t, "prompt tokens", got.PromptTokens, 7)
	if len(got.KVByRank) != 1 {
		t.Errorf("%v, want one rank", got.KVByRank)
	}
}

func TestModelWithoutCase(t *testing.T) {
	page := `dynamo_frontend_inflight_requests{model="qwen/a"} 2
dynamo_frontend_model_context_length{model="Qwen/A"} 4096
dynamo_frontend_inflight_requests{model="qwen/b"} 5
dynamo_frontend_model_context_length{model="Qwen/B"} 8192
`
	got := take(t, page, "qwen/A")
	check(t, "running", got.Running, 2)
	check(t, "length", got.MaxModelLen, 4096)
	if got.Model != "Qwen/A" || len(got.onPage) != 2 || got.onPage[1] != "Qwen/B" {
		t.Errorf("model %q of %q", got.Model, got.onPage)
	}
}

// What a page came through shows in its prefix, its labels or the company it keeps.
func TestWhatAPageCameThrough(t *testing.T) {
	for page, want := range map[string]string{
		"vllm:num_requests_running 1\n":                                                                          "",
		"ray_vllm:num_requests_running{ReplicaId=\"a\"} 1\n":                                                     "Ray",
		"vllm:generation_tokens_total{model=\"m\",version=\"1\"} 1\n":                                            "Triton",
		"vllm:num_requests_running 1\nrequest_predict_seconds_count 1\nrequest_predict_seconds_sum 1\n":          "KServe",
		"sglang:num_running_reqs 1\ndynamo_component_inflight_requests{dynamo_component=\"b\"} 1\n":              "Dynamo worker",
		"dynamo_component_inflight_requests 4\ndynamo_component_kvstats_gpu_cache_usage_percent{x=\"y\"} 0.25\n": "Dynamo worker",
	} {
		if got := take(t, page, ""); got.Via != want {
			t.Errorf("%q came through %q, want %q", page, got.Via, want)
		}
	}
	// A worker whose engine has no names of its own.
	alone := take(t, "dynamo_component_inflight_requests 4\ndynamo_component_kvstats_gpu_cache_usage_percent 0.25\n", "")
	check(t, "running", alone.Running, 4)
	check(t, "fill", alone.KVFill, 0.25)
	if alone.Engine != "" {
		t.Errorf("engine %q of a page that names none", alone.Engine)
	}
}
