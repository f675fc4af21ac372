package scrape

import "sonde/probe/engine"

// trtllmKind is trtllm-serve. The JSON at its /metrics is taken out of a queue by
// whoever reads it, so the Prometheus page goes first.
var trtllmKind = kind{
	id: "tensorrt_llm", name: "TensorRT-LLM",
	ownedBy:  []string{"tensorrt_llm"},
	prefixes: []string{"trtllm_"},
	paths:    []string{"/prometheus/metrics"},
	missing:  "start trtllm-serve with return_perf_metrics: true in its YAML",
	about:    []about{{"/version", version}},
	extra:    trtllmExtras,
	table:    &trtllmTable,
}

// trtllmBareKind are the pages of mid 2025, whose names have no prefix.
var trtllmBareKind = kind{
	id: "tensorrt_llm", name: "TensorRT-LLM",
	prefixes: []string{"e2e_request_latency_seconds", "time_to_first_token_seconds", "request_success_total", "request_queue_time_seconds"},
	with:     []string{"engine_type"},
	about:    []about{{"/version", version}},
	table: &table{
		prefixes:   []string{""},
		counters:   map[engine.Field]names{engine.FieldRequestsOK: {"request_success_total"}},
		histograms: trtllmLatencies,
	},
}

var trtllmLatencies = map[engine.Field]names{
	engine.FieldTTFT:    {"time_to_first_token_seconds"},
	engine.FieldTPOT:    {"time_per_output_token_seconds"}, // mean of a request
	engine.FieldQueue:   {"request_queue_time_seconds"},
	engine.FieldPrefill: {"request_prefill_time_seconds"},
	engine.FieldDecode:  {"request_decode_time_seconds"},
	engine.FieldE2E:     {"e2e_request_latency_seconds"},
}

const trtllmRefresh = "refreshed when a request ends"

// trtllmTable holds the names of tensorrt_llm/metrics/collector.py (2026-03 on).
var trtllmTable = table{
	prefixes: []string{"trtllm_"},
	settings: names{"kv_cache_config_info"},
	gauges: map[engine.Field]names{
		engine.FieldRunning:    {"num_requests_running"},
		engine.FieldWaiting:    {"num_requests_waiting"},
		engine.FieldPaused:     {"num_paused_requests"},
		engine.FieldKVCapacity: {"kv_cache_max_blocks * kv_cache_tokens_per_block"},
		engine.FieldKVUsed:     {"kv_cache_used_blocks * kv_cache_tokens_per_block"},
		engine.FieldMaxRunning: {"max_num_active_requests"},
	},
	kvFill:  names{"kv_cache_utilization", "kv_cache_used_blocks / kv_cache_max_blocks"},
	hitRate: names{"kv_cache_hit_rate"},
	counters: map[engine.Field]names{
		engine.FieldPromptTokens:     {"prompt_tokens_total"},
		engine.FieldGenerationTokens: {"generation_tokens_total"},
		engine.FieldCachedTokens:     {"prompt_cached_tokens_total"},
		engine.FieldPrefixQueries:    {"kv_cache_reused_blocks_total + kv_cache_missed_blocks_total"},
		engine.FieldPrefixHits:       {"kv_cache_reused_blocks_total"},
		engine.FieldRequestsOK:       {"request_success_total"},
		engine.FieldRequestsFailed:   {"request_error_total"},
	},
	histograms: trtllmLatencies,
	unit:       func(engine.Reading) string { return "blocks" },
	onFinish:   true,
	remarks: map[engine.Field]string{
		engine.FieldRunning: trtllmRefresh, engine.FieldWaiting: trtllmRefresh, engine.FieldPaused: trtllmRefresh,
		engine.FieldKVFill: trtllmRefresh, engine.FieldKVUsed: trtllmRefresh,
	},
}
