package kinds

import (
	"time"

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

// tgi reads the names of TGI 3; TGI names the model itself as its owner. Its
// counters do not end in _total.
var tgi = Kind{
	ID: "tgi", Name: "TGI",
	Entry: func(m Object) bool {
		return m.Text("id") != "" && m.Text("owned_by") == m.Text("id")
	},
	Prefixes: []string{"tgi_"},
	About: []About{{"/info", func(a Object, id *engine.Identity) bool {
		id.MaxModelLen = OrKeep(a.Number("max_total_tokens"), id.MaxModelLen)
		id.MaxInputLen = OrKeep(a.Number("max_input_length"), id.MaxInputLen) // before v2
		id.MaxInputLen = OrKeep(a.Number("max_input_tokens"), id.MaxInputLen)
		id.MaxRunning = OrKeep(a.Number("max_concurrent_requests"), id.MaxRunning)
		return version(a, id)
	}}},
	Tokenize: Tokenizer{
		Plain: []Question{{"/tokenize", func(_, prompt string) any { return map[string]any{"inputs": prompt} }, lengthOf("")}},
		Chat:  []Question{{"/chat_tokenize", messagesBody, lengthOf("tokenize_response")}},
	},
	Table: &Table{
		Prefixes: []string{"tgi_"},
		Fields: map[engine.Field]Ways{
			engine.FieldKVFill:           Names("batch_current_max_tokens / batch_max_total_tokens"),
			engine.FieldRunning:          Names("batch_current_size"),
			engine.FieldWaiting:          Names("queue_size"),
			engine.FieldKVCapacity:       Names("batch_max_total_tokens"),
			engine.FieldKVUsed:           Names("batch_current_max_tokens"),
			engine.FieldPromptTokens:     Names("request_input_length_sum"),
			engine.FieldGenerationTokens: Names("request_generated_tokens_sum"),
			engine.FieldRequestsReceived: Names("request_count"),
			engine.FieldRequestsOK:       Names("request_success"),
			engine.FieldRequestsFailed:   Names("request_failure"),
			engine.FieldRequestsAborted:  Names("request_failure{err=dropped}"),
			engine.FieldTPOT:             Names("request_mean_time_per_token_duration"),
			engine.FieldQueue:            Names("request_queue_duration"),
			engine.FieldE2E:              Names("request_duration"),
		},
		OnFinish: true,
		Remarks: map[engine.Field]string{
			engine.FieldKVFill: "tokens reserved for the batch, not occupied",
			engine.FieldKVUsed: "reserved for the batch, not occupied",
		},
	},
}

// lmdeploy reads the names of lmdeploy/metrics/loggers.py at 0.16.
var lmdeploy = Kind{
	ID: "lmdeploy", Name: "LMDeploy",
	OwnedBy:  []string{"lmdeploy"},
	Prefixes: []string{"lmdeploy:", "lmdeploy_"},
	Missing:  "start LMDeploy without --disable-metrics (before 2025-11: with --enable-metrics)",
	Tokenize: Tokenizer{
		Plain: []Question{{"/v1/encode", func(_, prompt string) any { return map[string]any{"input": prompt} }, countField("length")}},
	},
	Table: &Table{
		Prefixes: []string{"lmdeploy:", "lmdeploy_"},
		Settings: Names("backend_config_info"),
		Fields: map[engine.Field]Ways{
			engine.FieldHitRateGauge:     Names("prefix_cache_hit_rate"),
			engine.FieldKVFill:           Names("gpu_cache_usage_perc"), // a fraction
			engine.FieldRunning:          Names("num_requests_running"),
			engine.FieldWaiting:          Names("num_requests_waiting"),
			engine.FieldRequestsFailed:   Names("num_requests_failed"), // a gauge that counts up
			engine.FieldPromptTokens:     Names("prompt_tokens_total"),
			engine.FieldGenerationTokens: Names("generation_tokens_total"),
			engine.FieldCachedTokens:     Names("cached_tokens_total"),
			engine.FieldRequestsOK:       Names("request_success_total{finished_reason=ResponseType.FINISH|ResponseType.SUCCESS}"),
			engine.FieldRequestsAborted:  Names("request_success_total{finished_reason=ResponseType.CANCEL}"),
			engine.FieldTTFT:             Names("time_to_first_token_seconds"),
			engine.FieldGap:              Names("iter_token_latency"), // seconds
			engine.FieldTPOT:             Names("time_per_output_token_seconds"),
			engine.FieldQueue:            Names("request_queue_time_seconds"),
			engine.FieldPrefill:          Names("request_prefill_time_seconds"),
			engine.FieldDecode:           Names("request_decode_time_seconds"),
			engine.FieldE2E:              Names("e2e_request_latency_seconds"),
		},
	},
}

// mlc is MLC-LLM, whose page is not quite Prometheus text. Every read of it
// sends a request through the engine, so it is read only when the user gives it.
var mlc = Kind{
	ID: "mlc-llm", Name: "MLC-LLM",
	OwnedBy:  []string{"MLC-LLM"},
	Prefixes: []string{"engine_prefill_time_sum", "engine_decode_time_sum"},
	NoPage:   "MLC-LLM's page shows neither queue nor KV cache, and each read costs a request; for its token counts give that page with --metrics",
	Every:    10 * time.Second,
	Table: &Table{
		Prefixes: []string{""},
		Fields: map[engine.Field]Ways{
			engine.FieldPromptTokens:     Names("prompt_tokens_sum"),
			engine.FieldGenerationTokens: Names("completion_tokens_sum"),
		},
		Notes: []string{"reading MLC-LLM's page costs it a request, so it is read every 10 s"},
	},
}
