package kinds

import (
	"time"

	"sonde/probe/engine"
)

// lmdeploy reads the names of lmdeploy/metrics/loggers.py at 0.16.
var lmdeploy = Kind{
	ID: "lmdeploy", Name: "LMDeploy",
	OwnedBy:  []string{"lmdeploy"},
	Prefixes: []string{"lmdeploy:"},
	Missing:  "start LMDeploy without --disable-metrics (before 2025-11: with --enable-metrics)",
	Tokenize: Tokenizer{
		Plain: []Question{{"/v1/encode", func(_, prompt string) any { return map[string]any{"input": prompt} }, countField("length")}},
	},
	Table: &Table{
		Prefixes: []string{"lmdeploy:"},
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
// sends a request through the engine, so it is read only when it is asked for.
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
