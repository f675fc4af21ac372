package scrape

import "sonde/probe/engine"

// lmdeployKind reads the names of lmdeploy/metrics/loggers.py at 0.16.
var lmdeployKind = kind{
	id: "lmdeploy", name: "LMDeploy",
	ownedBy:  []string{"lmdeploy"},
	prefixes: []string{"lmdeploy:"},
	missing:  "start LMDeploy without --disable-metrics (before 2025-11: with --enable-metrics)",
	table: &table{
		prefixes: []string{"lmdeploy:"},
		settings: names{"backend_config_info"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:        {"num_requests_running"},
			engine.FieldWaiting:        {"num_requests_waiting"},
			engine.FieldRequestsFailed: {"num_requests_failed"}, // a gauge that counts up
		},
		kvFill:  names{"gpu_cache_usage_perc"}, // a fraction
		hitRate: names{"prefix_cache_hit_rate"},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"prompt_tokens_total"},
			engine.FieldGenerationTokens: {"generation_tokens_total"},
			engine.FieldCachedTokens:     {"cached_tokens_total"},
			engine.FieldRequestsOK:       {"request_success_total{finished_reason=ResponseType.FINISH|ResponseType.SUCCESS}"},
			engine.FieldRequestsAborted:  {"request_success_total{finished_reason=ResponseType.CANCEL}"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTTFT:    {"time_to_first_token_seconds"},
			engine.FieldGap:     {"iter_token_latency"}, // seconds
			engine.FieldTPOT:    {"time_per_output_token_seconds"},
			engine.FieldQueue:   {"request_queue_time_seconds"},
			engine.FieldPrefill: {"request_prefill_time_seconds"},
			engine.FieldDecode:  {"request_decode_time_seconds"},
			engine.FieldE2E:     {"e2e_request_latency_seconds"},
		},
	},
}
