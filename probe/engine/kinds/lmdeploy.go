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
		Settings: names("backend_config_info"),
		Gauges: map[engine.Field]Ways{
			engine.FieldHitRateGauge:   names("prefix_cache_hit_rate"),
			engine.FieldKVFill:         names("gpu_cache_usage_perc"), // a fraction
			engine.FieldRunning:        names("num_requests_running"),
			engine.FieldWaiting:        names("num_requests_waiting"),
			engine.FieldRequestsFailed: names("num_requests_failed"), // a gauge that counts up
		},
		Counters: map[engine.Field]Ways{
			engine.FieldPromptTokens:     names("prompt_tokens_total"),
			engine.FieldGenerationTokens: names("generation_tokens_total"),
			engine.FieldCachedTokens:     names("cached_tokens_total"),
			engine.FieldRequestsOK:       {one("request_success_total", is(labelFinishedReason, "ResponseType.FINISH", "ResponseType.SUCCESS"))},
			engine.FieldRequestsAborted:  {one("request_success_total", is(labelFinishedReason, "ResponseType.CANCEL"))},
		},
		Histograms: map[engine.Field]Ways{
			engine.FieldTTFT:    names("time_to_first_token_seconds"),
			engine.FieldGap:     names("iter_token_latency"), // seconds
			engine.FieldTPOT:    names("time_per_output_token_seconds"),
			engine.FieldQueue:   names("request_queue_time_seconds"),
			engine.FieldPrefill: names("request_prefill_time_seconds"),
			engine.FieldDecode:  names("request_decode_time_seconds"),
			engine.FieldE2E:     names("e2e_request_latency_seconds"),
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
		Counters: map[engine.Field]Ways{
			engine.FieldPromptTokens:     names("prompt_tokens_sum"),
			engine.FieldGenerationTokens: names("completion_tokens_sum"),
		},
		Notes: []string{"reading MLC-LLM's page costs it a request, so it is read every 10 s"},
	},
}
