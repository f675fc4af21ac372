package kinds

import (
	"sonde/probe/engine"
)

// NIMMetrics is where NIM has its metrics page, and no other server.
const NIMMetrics = "/v1/metrics"

// NIM is NIM. Version 1 publishes vLLM's names without a prefix; from version 2
// on the page is the back end's own, which that engine's table reads.
var NIM = Kind{
	ID: "nim", Name: "NIM",
	OwnedBy:  []string{"system"}, // and so does OpenAI itself
	Confirm:  &About{"/v1/health/ready", func(a Object, _ *engine.Identity) bool { return a.Text("object") == "health.response" }},
	Prefixes: []string{"num_requests_running", "num_request_max", "gpu_cache_usage_perc", "request_finish_total", "time_to_first_token_seconds"},
	Without:  []string{"engine_type"}, // so says TensorRT-LLM of the same names
	Paths:    []string{NIMMetrics, "/metrics"},
	// The release is not that of the engine inside.
	About: []About{
		{"/v1/version", func(a Object, id *engine.Identity) bool {
			id.Version = a.Text("release")
			return id.Version != "" || version(a, id)
		}},
		{NIMMetadata, NIMRelease},
	},
	PassesOn: true,
	Tokenize: vllmTokenizer,
	Table: &Table{
		Prefixes: []string{""},
		Fields: map[engine.Field]Ways{
			engine.FieldKVFill:           Names("gpu_cache_usage_perc"), // a fraction
			engine.FieldRunning:          Names("num_requests_running"),
			engine.FieldWaiting:          Names("num_requests_waiting"),
			engine.FieldMaxRunning:       Names("num_request_max"),
			engine.FieldPromptTokens:     Names("prompt_tokens_total"),
			engine.FieldGenerationTokens: Names("generation_tokens_total"),
			engine.FieldRequestsOK:       Names("request_success_total", "request_finish_total"),
			engine.FieldRequestsFailed:   Names("request_failure_total"),
			engine.FieldTTFT:             Names("time_to_first_token_seconds"),
			engine.FieldGap:              Names("time_per_output_token_seconds"),
			engine.FieldE2E:              Names("e2e_request_latency_seconds"),
		},
	},
}

// NIMMetadata is a path that only NIM has.
const NIMMetadata = "/v1/metadata"

// NIMRelease reads the version from that path, and reports whether the answer is NIM's.
func NIMRelease(a Object, id *engine.Identity) bool {
	_, hasModels := a["modelInfo"]
	return version(a, id) && hasModels
}
