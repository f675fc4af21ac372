package scrape

import (
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

var sglangKind = kind{
	id: "sglang", name: "SGLang",
	ownedBy:  []string{"sglang"},
	prefixes: []string{"sglang:", "sglang_"},
	// SGLang's model gateway answers with its workers' pages at the second.
	paths:   []string{"/metrics", "/engine_metrics"},
	missing: "start SGLang with --enable-metrics",
	about:   sglangAbout,
	extra:   sglangExtras,
	table:   &sglangTable,
}

// sglangTable holds the names of srt/observability/metrics_collector.py at v0.5.18
// and of releases before it, and behind them those of /v1/loads?format=prometheus.
// Gauges are refreshed at each prefill batch and every 40 decode steps.
var sglangTable = table{
	prefixes: []string{"sglang:", "sglang_"},
	gauges: map[engine.Field]names{
		engine.FieldRunning: {"num_running_reqs"},
		// What waits for its grammar, and in disaggregated serving for another
		// instance, stands in queues of its own. One of them was renamed.
		engine.FieldWaiting: {
			"num_queue_reqs + num_grammar_queue_reqs + num_prefill_bootstrap_queue_reqs + num_prefill_prealloc_queue_reqs" +
				" + num_prefill_inflight_queue_reqs + num_decode_prealloc_queue_reqs + num_decode_transfer_queue_reqs",
			"num_waiting_reqs",
		},
		engine.FieldPaused:      {"num_retracted_reqs + num_paused_reqs"},
		engine.FieldKVCapacity:  {"max_total_num_tokens", "num_pages * page_size"},
		engine.FieldKVUsed:      {"kv_used_tokens", "num_used_tokens"},
		engine.FieldMaxModelLen: {"context_len"},
		engine.FieldMaxRunning:  {"max_running_requests"},
		engine.FieldOutputGauge: {"gen_throughput"},
	},
	kvFill:  names{"token_usage"},
	hitRate: names{"cache_hit_rate"},
	counters: map[engine.Field]names{
		engine.FieldPreemptions:      {"num_retracted_requests_total"},
		engine.FieldPromptTokens:     {"prompt_tokens_total"},
		engine.FieldGenerationTokens: {"generation_tokens_total"},
		engine.FieldCachedTokens:     {"cached_tokens_total{cache_source=total}", "cached_tokens_total"},
		engine.FieldPrefixQueries:    {"prefill_effective_tokens_total", "realtime_tokens_total{mode=prefill_compute|prefill_cache}"},
		engine.FieldPrefixHits:       {"prefill_effective_tokens_total{mode=device_hit|host_hit|storage_hit}", "realtime_tokens_total{mode=prefill_cache}"},
		engine.FieldLiveDecode:       {"realtime_tokens_total{mode=decode}"},
		engine.FieldLivePrefill:      {"realtime_tokens_total{mode=prefill_compute}"},
		engine.FieldLiveCached:       {"realtime_tokens_total{mode=prefill_cache}"},
		engine.FieldRequestsOK:       {"num_requests_total"},
		engine.FieldRequestsAborted:  {"num_aborted_requests_total", "num_aborted_requests"},
	},
	histograms: map[engine.Field]names{
		engine.FieldTTFT:    {"time_to_first_token_seconds"},
		engine.FieldGap:     {"inter_token_latency_seconds", "time_per_output_token_seconds"},
		engine.FieldQueue:   {"queue_time_seconds", "queue_time_s"},
		engine.FieldPrefill: {"per_stage_req_latency_seconds{stage=prefill_forward}"},
		engine.FieldE2E:     {"e2e_request_latency_seconds"},
	},
	config:   names{"cache_config_info"}, // v0.5.9 and v0.5.10
	capacity: sglangCapacity,
	onFinish: true,
	remarks: map[engine.Field]string{
		engine.FieldOutputGauge:  "of the last 40 decode steps",
		engine.FieldHitRateGauge: "of the last prefill batch",
		engine.FieldPaused:       "retracted or paused",
	},
}

// sglangCapacity returns the tokens that one rank's KV cache holds.
func sglangCapacity(config map[string]string) opt.Float {
	size, err := strconv.ParseFloat(config["page_size"], 64)
	if err != nil {
		return opt.Float{}
	}
	pages, err := strconv.ParseFloat(config["num_pages"], 64)
	if err != nil {
		return opt.Float{}
	}
	return opt.Of(size * pages)
}

// sglangGatewayKind is SGLang's model gateway: its own page, on a port of its own,
// is about routing only.
var sglangGatewayKind = kind{
	id: "sglang-gateway", name: "SGLang model gateway",
	prefixes: []string{"smg_"},
	paths:    []string{"/engine_metrics"},
	empty:    "give /engine_metrics of the gateway, or a worker's own address, with --metrics",
}
