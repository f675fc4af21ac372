package kinds

import (
	"sonde/probe/engine"
)

// litellm is a gateway. The labels of its metrics hold hashes of keys and names
// of users and teams: only sums over them leave this package.
var litellm = Kind{
	ID: "litellm", Name: "LiteLLM",
	Header:   "x-litellm-version",
	Prefixes: []string{"litellm_"},
	Paths:    []string{"/metrics/", "/metrics"},
	Missing:  `LiteLLM is a gateway: give the engine's own address with --metrics, or start LiteLLM with callbacks: ["prometheus"]`,
	Empty:    "no request has gone through LiteLLM yet",
	// Not /health, which would send a request to every model.
	About: []About{{"/health/readiness", func(a Object, id *engine.Identity) bool {
		id.Version = a.Text("litellm_version")
		return id.Version != ""
	}}},
	Table: &Table{
		Prefixes: []string{"litellm_"},
		Fields: map[engine.Field]Ways{
			engine.FieldPromptTokens:     Names("input_tokens_metric_total"),
			engine.FieldGenerationTokens: Names("output_tokens_metric_total"),
			engine.FieldRequestsReceived: Names("proxy_total_requests_metric_total"),
			engine.FieldRequestsOK:       Names("proxy_total_requests_metric_total{status_code=200}"),
			engine.FieldRequestsFailed:   Names("proxy_failed_requests_metric_total"),
			engine.FieldTTFT:             Names("llm_api_time_to_first_token_metric"),
			engine.FieldE2E:              Names("request_total_latency_metric"),
		},
		Router: true, OnFinish: true,
		Notes: []string{"LiteLLM is a gateway: it reports neither queue nor KV cache; give the engine's own address with --metrics"},
	},
}
