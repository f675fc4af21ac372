package scrape

import "sonde/probe/engine"

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
		gauges: map[engine.Field]names{
			engine.FieldRunning:    {"num_requests_running"},
			engine.FieldWaiting:    {"num_requests_waiting"},
			engine.FieldMaxRunning: {"num_request_max"},
		},
		kvFill: names{"gpu_cache_usage_perc"}, // a fraction
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"prompt_tokens_total"},
			engine.FieldGenerationTokens: {"generation_tokens_total"},
			engine.FieldRequestsOK:       {"request_success_total", "request_finish_total"},
			engine.FieldRequestsFailed:   {"request_failure_total"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTTFT: {"time_to_first_token_seconds"},
			engine.FieldGap:  {"time_per_output_token_seconds"},
			engine.FieldE2E:  {"e2e_request_latency_seconds"},
		},
	},
}
