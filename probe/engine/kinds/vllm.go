package kinds

import (
	"context"

	"sonde/probe/engine"
	"sonde/probe/roofline"
)

var VLLM = Kind{
	ID: "vllm", Name: "vLLM",
	OwnedBy:  []string{"vllm"},
	Prefixes: []string{"vllm:", "ray_vllm_", "ray_vllm:", "vllm_"},
	Empty:    "start vLLM without --disable-log-stats",
	About: []About{{"/version", func(a Object, id *engine.Identity) bool {
		if rust := a.Text("rust_frontend_version"); rust != "" {
			id.About = append(id.About, "Rust front end "+rust)
		}
		return version(a, id)
	}}},
	Tokenize: vllmTokenizer,
	Shape:    vllmShape,
	Table:    &vllmTable,
}

// vllmTable holds the names of vllm/v1/metrics/loggers.py (2026-08) and, behind
// them, those of V0 and of the first V1 releases. Where a page has both, they hold
// the same value.
var vllmTable = Table{
	// Ray Serve cannot publish a colon and puts its own prefix in front. Collectors on the
	// way replace the colon.
	Prefixes: []string{"vllm:", "ray_vllm_", "ray_vllm:", "vllm_"},

	Fields: map[engine.Field]Ways{
		engine.FieldHitRateGauge:     Names("gpu_prefix_cache_hit_rate"),                   // V0; -1 if there is no cache
		engine.FieldKVFill:           Names("kv_cache_usage_perc", "gpu_cache_usage_perc"), // fractions, whatever the name says
		engine.FieldRunning:          Names("num_requests_running"),
		engine.FieldWaiting:          Names("num_requests_waiting"),
		engine.FieldPaused:           Names("num_requests_swapped"), // V0; later part of waiting
		engine.FieldPreemptions:      Names("num_preemptions_total"),
		engine.FieldPromptTokens:     Names("prompt_tokens_total"), // with cached ones
		engine.FieldCachedTokens:     Names("prompt_tokens_cached_total"),
		engine.FieldGenerationTokens: Names("generation_tokens_total"), // at every step
		engine.FieldPrefixQueries:    Names("prefix_cache_queries_total", "gpu_prefix_cache_queries_total"),
		engine.FieldPrefixHits:       Names("prefix_cache_hits_total", "gpu_prefix_cache_hits_total"),
		engine.FieldRequestsOK:       Names("request_success_total{finished_reason=stop|length|repetition}"),
		engine.FieldRequestsFailed:   Names("request_success_total{finished_reason=error}"),
		engine.FieldRequestsAborted:  Names("request_success_total{finished_reason=abort}"),
		engine.FieldTTFT:             Names("time_to_first_token_seconds"),
		// One observation per engine step and request. Renamed in 2025-09.
		engine.FieldGap:     Names("inter_token_latency_seconds", "time_per_output_token_seconds"),
		engine.FieldTPOT:    Names("request_time_per_output_token_seconds"),
		engine.FieldQueue:   Names("request_queue_time_seconds", "time_in_queue_requests"),
		engine.FieldPrefill: Names("request_prefill_time_seconds"),
		engine.FieldDecode:  Names("request_decode_time_seconds"),
		engine.FieldE2E:     Names("e2e_request_latency_seconds"),
	},

	Config: Names("cache_config_info"),
	// Blocks times block size overstates it for hybrid models: the newer label goes first.
	Capacity: Names("kv_cache_size_tokens", "num_gpu_blocks * block_size"),
	Unit:     vllmPrefixUnit,
	Via: []Via{
		{Prefix: "ray_vllm_", Name: "Ray"}, {Prefix: "ray_vllm:", Name: "Ray"},
		{Metric: "request_predict_seconds", Name: "KServe"},
		{Label: "version", Name: "Triton"}, // its vLLM back end: labels model and version
	},
}

// vllmPrefixUnit distinguishes blocks from tokens: V1 counted blocks from v0.7.3 to v0.8.5,
// under names that v0.9 used for tokens. Every prompt token is looked up, so tokens
// are as many as the prompts have, blocks far fewer.
func vllmPrefixUnit(r *engine.Reading) engine.Unit {
	if r.PromptTokens.OK && r.PrefixQueries.V > 0 && r.PrefixQueries.V < r.PromptTokens.V/4 {
		return engine.UnitBlocks
	}
	return engine.UnitTokens
}

// productionStack is the router of vLLM's production stack: vLLM's names, with a label for
// the server. The names of counters are gauges here and are not read.
var productionStack = Kind{
	ID: "vllm-production-stack-router", Name: "vLLM production-stack router",
	Prefixes: []string{"vllm:"},
	With:     []string{"server"},
	Table: &Table{
		Prefixes: []string{"vllm:"},
		Fields: map[engine.Field]Ways{
			engine.FieldKVFill:  Names("kv_cache_usage_perc", "gpu_cache_usage_perc"),
			engine.FieldRunning: Names("num_requests_running"),
			engine.FieldWaiting: Names("num_requests_waiting"),
			engine.FieldPaused:  Names("num_requests_swapped"),
			engine.FieldServers: Names("healthy_pods_total"),
		},
		Router: true,
		Notes:  []string{"this is a router's page: numbers are sums over its servers"},
	},
}

// kserve is KServe's server for models of Hugging Face: vLLM's names beside its
// own. Its API is below /openai, its metrics are not.
var kserve = Kind{
	ID: "kserve", Name: "KServe with vLLM",
	Prefixes: []string{"request_predict_seconds", "request_preprocess_seconds"},
	About:    []About{{"/v2", version}},
	PassesOn: true,
}

// Sim is our own embedded engine. It publishes vLLM's names, so its owner and
// Server header go before the names of its metrics.
var Sim = Kind{
	ID: "sonde-sim", Name: "sonde sim",
	OwnedBy: []string{"sonde-sim"}, Server: "sonde-sim",
	Paths:    []string{"/metrics"},
	GPUPath:  "/dcgm/metrics",
	About:    versionAbout,
	PassesOn: true,
	Tokenize: vllmTokenizer,
}

// vllmShape reads what was loaded from the model's entry, and the type of the KV cache from
// the labels of the configuration. Where it follows the model ("auto") it is unknown.
func vllmShape(ctx context.Context, ask Asker, model string) roofline.ModelInfo {
	info := roofline.ModelInfo{Path: ask.ModelEntry(ctx, model).Text("root")}
	for _, labels := range ask.Labels(ctx, "vllm:cache_config_info") {
		if info.KVBits == 0 {
			info.KVBits = bitsOf(labels["cache_dtype"])
		}
	}
	return info
}
