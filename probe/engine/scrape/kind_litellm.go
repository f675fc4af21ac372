package scrape

import "sonde/probe/engine"

// litellmKind is a gateway. The labels of its metrics hold hashes of keys and names
// of users and teams: only sums over them leave this package.
var litellmKind = kind{
	id: "litellm", name: "LiteLLM",
	header:   "x-litellm-version",
	prefixes: []string{"litellm_"},
	paths:    []string{"/metrics/", "/metrics"},
	missing:  `LiteLLM is a gateway: give the engine's own address with --metrics, or start LiteLLM with callbacks: ["prometheus"]`,
	empty:    "no request has passed LiteLLM yet",
	about:    litellmAbout,
	table: &table{
		prefixes: []string{"litellm_"},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"input_tokens_metric_total"},
			engine.FieldGenerationTokens: {"output_tokens_metric_total"},
			engine.FieldRequestsReceived: {"proxy_total_requests_metric_total"},
			engine.FieldRequestsOK:       {"proxy_total_requests_metric_total{status_code=200}"},
			engine.FieldRequestsFailed:   {"proxy_failed_requests_metric_total"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTTFT: {"llm_api_time_to_first_token_metric"},
			engine.FieldE2E:  {"request_total_latency_metric"},
		},
		router: true, onFinish: true,
		notes: []string{"LiteLLM is a gateway: it knows neither queue nor KV cache; give the engine's own address with --metrics"},
	},
}
