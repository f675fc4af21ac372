package engine

import (
	"strconv"

	"sonde/probe/opt"
)

var vllmKind = kind{
	id: "vllm", name: "vLLM",
	ownedBy:  []string{"vllm"},
	prefixes: []string{"vllm:", "ray_vllm_"},
	empty:    "start vLLM without --disable-log-stats",
	about:    []about{{"/version", version}},
	table:    &vllmTable,
}

// vllmTable holds the names of vllm/v1/metrics/loggers.py (2026-08) and, behind
// them, those of V0 and of the first V1 releases. Where a page has both, they hold
// the same value.
var vllmTable = table{
	// Ray Serve cannot publish a colon and puts its own prefix in front.
	prefixes: []string{"vllm:", "ray_vllm_"},

	running: names{"num_requests_running"},
	waiting: names{"num_requests_waiting"},
	kvFill:  names{"kv_cache_usage_perc", "gpu_cache_usage_perc"}, // fractions, whatever the name says

	preemptions:      names{"num_preemptions_total"},
	promptTokens:     names{"prompt_tokens_total"},
	generationTokens: names{"generation_tokens_total"},
	// The gpu_… counters are in blocks up to v0.8.5, which the rate does not notice.
	prefixQueries: names{"prefix_cache_queries_total", "gpu_prefix_cache_queries_total"},
	prefixHits:    names{"prefix_cache_hits_total", "gpu_prefix_cache_hits_total"},
	prefixHitRate: names{"gpu_prefix_cache_hit_rate"}, // V0; -1 if there is no cache

	ttft: names{"time_to_first_token_seconds"},
	// One observation per engine step and request. Renamed in 2025-09.
	gap:     names{"inter_token_latency_seconds", "time_per_output_token_seconds"},
	queue:   names{"request_queue_time_seconds", "time_in_queue_requests"},
	prefill: names{"request_prefill_time_seconds"},
	e2e:     names{"e2e_request_latency_seconds"},

	config:   names{"cache_config_info"},
	capacity: vllmCapacity,
}

// vllmCapacity returns the tokens that one rank's KV cache holds. Blocks times
// block size overstates it for hybrid models, so the newer label goes first.
func vllmCapacity(config map[string]string) opt.Float {
	if tokens, err := strconv.ParseFloat(config["kv_cache_size_tokens"], 64); err == nil {
		return opt.Of(tokens)
	}
	blocks, err := strconv.ParseFloat(config["num_gpu_blocks"], 64) // "None" until profiled
	if err != nil {
		return opt.Float{}
	}
	size, err := strconv.ParseFloat(config["block_size"], 64)
	if err != nil {
		return opt.Float{}
	}
	return opt.Of(blocks * size)
}
