package engine

// nimMetrics is where NIM has its metrics page, and no other server.
const nimMetrics = "/v1/metrics"

// nimKind is NIM. Version 1 publishes vLLM's names without a prefix; from version 2
// on the page is the back end's own, which that engine's table reads.
var nimKind = kind{
	id: "nim", name: "NIM",
	ownedBy:  []string{"system"}, // and so does OpenAI itself
	confirm:  &confirmation{"/v1/health/ready", func(a object) bool { return a.text("object") == "health.response" }},
	prefixes: []string{"num_requests_running", "num_request_max", "gpu_cache_usage_perc", "request_finish_total", "time_to_first_token_seconds"},
	without:  []string{"engine_type"}, // so says TensorRT-LLM of the same names
	paths:    []string{nimMetrics, "/metrics"},
	about:    nimAbout,
	passesOn: true,
	table: &table{
		prefixes: []string{""},
		gauges: map[Field]names{
			FieldRunning:    {"num_requests_running"},
			FieldWaiting:    {"num_requests_waiting"},
			FieldMaxRunning: {"num_request_max"},
		},
		kvFill: names{"gpu_cache_usage_perc"}, // a fraction
		counters: map[Field]names{
			FieldPromptTokens:     {"prompt_tokens_total"},
			FieldGenerationTokens: {"generation_tokens_total"},
			FieldRequestsOK:       {"request_success_total", "request_finish_total"},
			FieldRequestsFailed:   {"request_failure_total"},
		},
		histograms: map[Field]names{
			FieldTTFT: {"time_to_first_token_seconds"},
			FieldGap:  {"time_per_output_token_seconds"},
			FieldE2E:  {"e2e_request_latency_seconds"},
		},
	},
}
