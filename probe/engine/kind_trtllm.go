package engine

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
		counters:   map[Field]names{FieldRequestsOK: {"request_success_total"}},
		histograms: trtllmLatencies,
	},
}

var trtllmLatencies = map[Field]names{
	FieldTTFT:    {"time_to_first_token_seconds"},
	FieldTPOT:    {"time_per_output_token_seconds"}, // mean of a request
	FieldQueue:   {"request_queue_time_seconds"},
	FieldPrefill: {"request_prefill_time_seconds"},
	FieldDecode:  {"request_decode_time_seconds"},
	FieldE2E:     {"e2e_request_latency_seconds"},
}

const trtllmRefresh = "refreshed when a request ends"

// trtllmTable holds the names of tensorrt_llm/metrics/collector.py (2026-03 on).
var trtllmTable = table{
	prefixes: []string{"trtllm_"},
	settings: names{"kv_cache_config_info"},
	gauges: map[Field]names{
		FieldRunning:    {"num_requests_running"},
		FieldWaiting:    {"num_requests_waiting"},
		FieldPaused:     {"num_paused_requests"},
		FieldKVCapacity: {"kv_cache_max_blocks * kv_cache_tokens_per_block"},
		FieldKVUsed:     {"kv_cache_used_blocks * kv_cache_tokens_per_block"},
		FieldMaxRunning: {"max_num_active_requests"},
	},
	kvFill:  names{"kv_cache_utilization", "kv_cache_used_blocks / kv_cache_max_blocks"},
	hitRate: names{"kv_cache_hit_rate"},
	counters: map[Field]names{
		FieldPromptTokens:     {"prompt_tokens_total"},
		FieldGenerationTokens: {"generation_tokens_total"},
		FieldCachedTokens:     {"prompt_cached_tokens_total"},
		FieldPrefixQueries:    {"kv_cache_reused_blocks_total + kv_cache_missed_blocks_total"},
		FieldPrefixHits:       {"kv_cache_reused_blocks_total"},
		FieldRequestsOK:       {"request_success_total"},
		FieldRequestsFailed:   {"request_error_total"},
	},
	histograms: trtllmLatencies,
	unit:       func(Reading) string { return "blocks" },
	onFinish:   true,
	remarks: map[Field]string{
		FieldRunning: trtllmRefresh, FieldWaiting: trtllmRefresh, FieldPaused: trtllmRefresh,
		FieldKVFill: trtllmRefresh, FieldKVUsed: trtllmRefresh,
	},
}
