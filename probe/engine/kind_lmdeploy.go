package engine

// lmdeployKind reads the names of lmdeploy/metrics/loggers.py at 0.16.
var lmdeployKind = kind{
	id: "lmdeploy", name: "LMDeploy",
	ownedBy:  []string{"lmdeploy"},
	prefixes: []string{"lmdeploy:"},
	missing:  "start LMDeploy without --disable-metrics (before 2025-11: with --enable-metrics)",
	table: &table{
		prefixes: []string{"lmdeploy:"},
		settings: names{"backend_config_info"},
		gauges: map[Field]names{
			FieldRunning:        {"num_requests_running"},
			FieldWaiting:        {"num_requests_waiting"},
			FieldRequestsFailed: {"num_requests_failed"}, // a gauge that counts up
		},
		kvFill:  names{"gpu_cache_usage_perc"}, // a fraction
		hitRate: names{"prefix_cache_hit_rate"},
		counters: map[Field]names{
			FieldPromptTokens:     {"prompt_tokens_total"},
			FieldGenerationTokens: {"generation_tokens_total"},
			FieldCachedTokens:     {"cached_tokens_total"},
			FieldRequestsOK:       {"request_success_total{finished_reason=ResponseType.FINISH|ResponseType.SUCCESS}"},
			FieldRequestsAborted:  {"request_success_total{finished_reason=ResponseType.CANCEL}"},
		},
		histograms: map[Field]names{
			FieldTTFT:    {"time_to_first_token_seconds"},
			FieldGap:     {"iter_token_latency"}, // seconds
			FieldTPOT:    {"time_per_output_token_seconds"},
			FieldQueue:   {"request_queue_time_seconds"},
			FieldPrefill: {"request_prefill_time_seconds"},
			FieldDecode:  {"request_decode_time_seconds"},
			FieldE2E:     {"e2e_request_latency_seconds"},
		},
	},
}
