package engine

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
		counters: map[Field]names{
			FieldPromptTokens:     {"input_tokens_metric_total"},
			FieldGenerationTokens: {"output_tokens_metric_total"},
			FieldRequestsReceived: {"proxy_total_requests_metric_total"},
			FieldRequestsOK:       {"proxy_total_requests_metric_total{status_code=200}"},
			FieldRequestsFailed:   {"proxy_failed_requests_metric_total"},
		},
		histograms: map[Field]names{
			FieldTTFT: {"llm_api_time_to_first_token_metric"},
			FieldE2E:  {"request_total_latency_metric"},
		},
		router: true, onFinish: true,
		notes: []string{"LiteLLM is a gateway: it knows neither queue nor KV cache; give the engine's own address with --metrics"},
	},
}
