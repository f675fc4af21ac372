package kinds

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// TRTLLM is trtllm-serve. The JSON at its /metrics is taken out of a queue by
// whoever reads it, so the Prometheus page goes first.
var TRTLLM = Kind{
	ID: "tensorrt_llm", Name: "TensorRT-LLM",
	OwnedBy:  []string{"tensorrt_llm"},
	Prefixes: []string{"trtllm_"},
	Paths:    []string{"/prometheus/metrics"},
	Missing:  "start trtllm-serve with return_perf_metrics: true in its YAML",
	About:    versionAbout,
	// GET /metrics takes statistics out of a queue, away from every other reader: it is read
	// only where there is no Prometheus page.
	Extra: []Extra{
		{
			Path: "/metrics", Instead: true, Timeout: iterationsTimeout, Missing: "start trtllm-serve with return_perf_metrics: true in its YAML", Read: readIterations,
			Fields: []engine.Field{engine.FieldRunning, engine.FieldWaiting, engine.FieldPaused, engine.FieldMaxRunning, engine.FieldKVFill, engine.FieldKVCapacity, engine.FieldKVUsed, engine.FieldHitRateGauge, engine.FieldPrefixHits, engine.FieldPrefixQueries},
		},
	},
	Table: &trtllmTable,
}

// trtllmBare are the pages of mid 2025, whose names have no prefix.
var trtllmBare = Kind{
	ID: "tensorrt_llm", Name: "TensorRT-LLM",
	Prefixes: []string{"e2e_request_latency_seconds", "time_to_first_token_seconds", "request_success_total", "request_queue_time_seconds"},
	With:     []string{"engine_type"},
	About:    versionAbout,
	Table:    &trtllmTable,
}

const trtllmRefresh = "refreshed when a request ends"

// trtllmTable holds the names of tensorrt_llm/metrics/collector.py (2026-03 on).
var trtllmTable = Table{
	Prefixes: []string{"trtllm_", ""},
	Settings: Names("kv_cache_config_info"),
	Fields: map[engine.Field]Ways{
		engine.FieldHitRateGauge:     Names("kv_cache_hit_rate"),
		engine.FieldKVFill:           Names("kv_cache_utilization", "kv_cache_used_blocks / kv_cache_max_blocks"),
		engine.FieldRunning:          Names("num_requests_running"),
		engine.FieldWaiting:          Names("num_requests_waiting"),
		engine.FieldPaused:           Names("num_paused_requests"),
		engine.FieldKVCapacity:       Names("kv_cache_max_blocks * kv_cache_tokens_per_block"),
		engine.FieldKVUsed:           Names("kv_cache_used_blocks * kv_cache_tokens_per_block"),
		engine.FieldMaxRunning:       Names("max_num_active_requests"),
		engine.FieldPromptTokens:     Names("prompt_tokens_total"),
		engine.FieldGenerationTokens: Names("generation_tokens_total"),
		engine.FieldCachedTokens:     Names("prompt_cached_tokens_total"),
		engine.FieldPrefixQueries:    Names("kv_cache_reused_blocks_total + kv_cache_missed_blocks_total"),
		engine.FieldPrefixHits:       Names("kv_cache_reused_blocks_total"),
		engine.FieldRequestsOK:       Names("request_success_total"),
		engine.FieldRequestsFailed:   Names("request_error_total"),
		engine.FieldTTFT:             Names("time_to_first_token_seconds"),
		engine.FieldTPOT:             Names("time_per_output_token_seconds"), // mean of a request
		engine.FieldQueue:            Names("request_queue_time_seconds"),
		engine.FieldPrefill:          Names("request_prefill_time_seconds"),
		engine.FieldDecode:           Names("request_decode_time_seconds"),
		engine.FieldE2E:              Names("e2e_request_latency_seconds"),
	},
	Unit:     func(*engine.Reading) engine.Unit { return engine.UnitBlocks },
	OnFinish: true,
	Remarks: map[engine.Field]string{
		engine.FieldRunning: trtllmRefresh, engine.FieldWaiting: trtllmRefresh, engine.FieldPaused: trtllmRefresh,
		engine.FieldKVFill: trtllmRefresh, engine.FieldKVUsed: trtllmRefresh,
	},
}

// iterationsTimeout is more than the two seconds that the server waits for
// statistics when it is idle.
const iterationsTimeout = 4 * time.Second

// readIterations reads iteration statistics, oldest first; the last says how things
// stand. None mean unknown, not idle: another reader may have been faster.
func readIterations(b Body, into Into) error {
	list, err := b.list()
	if err != nil {
		return err
	}
	iterations := Objects(list)
	if len(iterations) == 0 {
		into.Note("no new iteration statistics: TensorRT-LLM is idle, or another reader took them, or enable_iter_perf_stats is not true in its YAML")
		return nil
	}
	last := iterations[len(iterations)-1]
	into.Set(engine.FieldRunning, last.Figure("numActiveRequests"), "numActiveRequests")
	into.Set(engine.FieldWaiting, last.Figure("numQueuedRequests"), "numQueuedRequests")
	into.Set(engine.FieldPaused, last.Object("inflightBatchingStats").Figure("numPausedRequests"), "numPausedRequests")
	into.Set(engine.FieldMaxRunning, last.Figure("maxNumActiveRequests"), "maxNumActiveRequests")
	readBlocks(last.Object("kvCacheStats"), into)
	return nil
}

// readBlocks reads the KV cache of one iteration. Reused and missed blocks count
// from the start of the engine.
func readBlocks(kv Object, into Into) {
	used, most, tokens := kv.Figure("usedNumBlocks"), kv.Figure("maxNumBlocks"), kv.Figure("tokensPerBlock")
	if used.OK && most.V > 0 {
		into.KV([]engine.RankFill{{Fill: used.V / most.V}}, nil, "usedNumBlocks / maxNumBlocks")
	}
	if tokens.OK {
		into.Set(engine.FieldKVCapacity, most.Scale(tokens.V), "maxNumBlocks × tokensPerBlock")
		into.Set(engine.FieldKVUsed, used.Scale(tokens.V), "usedNumBlocks × tokensPerBlock")
	}
	into.Set(engine.FieldHitRateGauge, kv.Figure("cacheHitRate"), "cacheHitRate")
	reused, missed := kv.Figure("reusedBlocks"), kv.Figure("missedBlocks")
	if reused.OK && missed.OK {
		into.PrefixUnit = engine.UnitBlocks
		into.Count(engine.FieldPrefixHits, reused, "reusedBlocks")
		into.Count(engine.FieldPrefixQueries, opt.Of(reused.V+missed.V), "reusedBlocks + missedBlocks")
	}
}

// IsIterations reports whether JSON is iteration statistics. Without one iteration it
// cannot be known.
func IsIterations(b Body) bool {
	items, err := b.list()
	if err != nil || len(items) == 0 {
		return false
	}
	first, _ := items[0].(map[string]any)
	_, has := first["iterLatencyMS"]
	return has
}

// triton is Triton with the TensorRT-LLM back end. With the vLLM back end its
// page holds vLLM's names, and vLLM's table reads it.
var triton = Kind{
	ID: "triton-tensorrt_llm", Name: "Triton with TensorRT-LLM",
	Prefixes: []string{"nv_trt_llm_"},
	About:    tritonAbout,
	Table: &Table{
		Prefixes: []string{"nv_"},
		Fields: map[engine.Field]Ways{
			// The vendor's sample shows a fraction that is not used by max.
			engine.FieldKVFill: Names(
				"trt_llm_kv_cache_block_metrics{kv_cache_block_type=used} / trt_llm_kv_cache_block_metrics{kv_cache_block_type=max}",
				"trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}",
			),
			engine.FieldRunning:        Names("trt_llm_request_metrics{request_type=scheduled}"),
			engine.FieldWaiting:        Names("trt_llm_request_metrics{request_type=waiting}"),
			engine.FieldPaused:         Names("trt_llm_inflight_batcher_metrics{inflight_batcher_specific_metric=paused_requests}"),
			engine.FieldMaxRunning:     Names("trt_llm_request_metrics{request_type=max}"),
			engine.FieldKVCapacity:     Names("trt_llm_kv_cache_block_metrics{kv_cache_block_type=max} * trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}"),
			engine.FieldKVUsed:         Names("trt_llm_kv_cache_block_metrics{kv_cache_block_type=used} * trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}"),
			engine.FieldRequestsOK:     Names("inference_request_success"),
			engine.FieldRequestsFailed: Names("inference_request_failure"),
			engine.FieldTTFT:           Names("inference_first_response_histogram_ms"), // decoupled models
			engine.FieldQueue:          Names("inference_queue_duration_us / inference_request_success"),
		},
		// Every model of an ensemble counts a request: only the one with the engine is read.
		ModelFrom: Names("trt_llm_request_metrics"),
	},
}

// tritonOther is Triton with a back end that does not report queue and cache.
var tritonOther = Kind{
	ID: "triton", Name: "Triton",
	Prefixes: []string{"nv_inference_"},
	Empty:    "Triton's page shows no known engine",
	About:    tritonAbout,
}

// tritonVLLM is Triton with the vLLM back end: some of vLLM's names, with
// Triton's labels.
var tritonVLLM = Kind{
	ID: "triton-vllm", Name: "Triton with vLLM",
	Prefixes: []string{"vllm:"},
	With:     []string{"model", "version"},
	About:    tritonAbout,
	Table:    &vllmTable,
}

// tritonAbout reads the protocol's own description of the server.
var tritonAbout = []About{{"/v2", func(a Object, id *engine.Identity) bool {
	return a.Text("name") == "triton" && version(a, id)
}}}
