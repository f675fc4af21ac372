package scrape

import (
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

var vllmKind = kind{
	id: "vllm", name: "vLLM",
	ownedBy:  []string{"vllm"},
	prefixes: []string{"vllm:", "ray_vllm_", "ray_vllm:"},
	empty:    "start vLLM without --disable-log-stats",
	about:    vllmAbout,
	table:    &vllmTable,
}

// vllmTable holds the names of vllm/v1/metrics/loggers.py (2026-08) and, behind
// them, those of V0 and of the first V1 releases. Where a page has both, they hold
// the same value.
var vllmTable = table{
	// Ray Serve cannot publish a colon and puts its own prefix in front.
	prefixes: []string{"vllm:", "ray_vllm_", "ray_vllm:"},

	gauges: map[engine.Field]names{
		engine.FieldRunning: {"num_requests_running"},
		engine.FieldWaiting: {"num_requests_waiting"},
		engine.FieldPaused:  {"num_requests_swapped"}, // V0; later part of waiting
	},
	kvFill: names{"kv_cache_usage_perc", "gpu_cache_usage_perc"}, // fractions, whatever the name says

	counters: map[engine.Field]names{
		engine.FieldPreemptions:      {"num_preemptions_total"},
		engine.FieldPromptTokens:     {"prompt_tokens_total"}, // with cached ones
		engine.FieldCachedTokens:     {"prompt_tokens_cached_total"},
		engine.FieldGenerationTokens: {"generation_tokens_total"}, // at every step
		engine.FieldPrefixQueries:    {"prefix_cache_queries_total", "gpu_prefix_cache_queries_total"},
		engine.FieldPrefixHits:       {"prefix_cache_hits_total", "gpu_prefix_cache_hits_total"},
		engine.FieldRequestsOK:       {"request_success_total{finished_reason=stop|length|repetition}"},
		engine.FieldRequestsFailed:   {"request_success_total{finished_reason=error}"},
		engine.FieldRequestsAborted:  {"request_success_total{finished_reason=abort}"},
	},
	hitRate: names{"gpu_prefix_cache_hit_rate"}, // V0; -1 if there is no cache

	histograms: map[engine.Field]names{
		engine.FieldTTFT: {"time_to_first_token_seconds"},
		// One observation per engine step and request. Renamed in 2025-09.
		engine.FieldGap:     {"inter_token_latency_seconds", "time_per_output_token_seconds"},
		engine.FieldTPOT:    {"request_time_per_output_token_seconds"},
		engine.FieldQueue:   {"request_queue_time_seconds", "time_in_queue_requests"},
		engine.FieldPrefill: {"request_prefill_time_seconds"},
		engine.FieldDecode:  {"request_decode_time_seconds"},
		engine.FieldE2E:     {"e2e_request_latency_seconds"},
	},

	config:   names{"cache_config_info"},
	capacity: vllmCapacity,
	unit:     vllmPrefixUnit,
	via: []via{
		{prefix: "ray_vllm_", name: "Ray"}, {prefix: "ray_vllm:", name: "Ray"},
		{metric: "request_predict_seconds", name: "KServe"},
		{label: "version", name: "Triton"}, // its vLLM back end: labels model and version
	},
}

// vllmPrefixUnit tells blocks from tokens: V1 counted blocks from v0.7.3 to v0.8.5,
// under names that v0.9 used for tokens. Every prompt token is looked up, so tokens
// are as many as the prompts have, blocks far fewer.
func vllmPrefixUnit(r engine.Reading) string {
	if r.PromptTokens.OK && r.PrefixQueries.V > 0 && r.PrefixQueries.V < r.PromptTokens.V/4 {
		return "blocks"
	}
	return "tokens"
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
