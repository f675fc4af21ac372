package scrape

import "sonde/probe/engine"

// tritonKind is Triton with the TensorRT-LLM back end. With the vLLM back end its
// page holds vLLM's names, and vLLM's table reads it.
var tritonKind = kind{
	id: "triton-tensorrt_llm", name: "Triton with TensorRT-LLM",
	prefixes: []string{"nv_trt_llm_"},
	about:    tritonAbout,
	table: &table{
		prefixes: []string{"nv_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:    {"trt_llm_request_metrics{request_type=scheduled}"},
			engine.FieldWaiting:    {"trt_llm_request_metrics{request_type=waiting}"},
			engine.FieldPaused:     {"trt_llm_inflight_batcher_metrics{inflight_batcher_specific_metric=paused_requests}"},
			engine.FieldMaxRunning: {"trt_llm_request_metrics{request_type=max}"},
			engine.FieldKVCapacity: {"trt_llm_kv_cache_block_metrics{kv_cache_block_type=max} * trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}"},
			engine.FieldKVUsed:     {"trt_llm_kv_cache_block_metrics{kv_cache_block_type=used} * trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}"},
		},
		// The vendor's sample shows a fraction that is not used by max.
		kvFill: names{
			"trt_llm_kv_cache_block_metrics{kv_cache_block_type=used} / trt_llm_kv_cache_block_metrics{kv_cache_block_type=max}",
			"trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}",
		},
		counters: map[engine.Field]names{
			engine.FieldRequestsOK:     {"inference_request_success"},
			engine.FieldRequestsFailed: {"inference_request_failure"},
		},
		histograms: map[engine.Field]names{engine.FieldTTFT: {"inference_first_response_histogram_ms"}}, // decoupled models
		means:      map[engine.Field]sumAndCount{engine.FieldQueue: {"inference_queue_duration_us", "inference_request_success"}},
		// Every model of an ensemble counts a request: the one with the engine speaks.
		modelFrom: names{"trt_llm_request_metrics"},
	},
}

// tritonOtherKind is Triton with a back end that says nothing of queue and cache.
var tritonOtherKind = kind{
	id: "triton", name: "Triton",
	prefixes: []string{"nv_inference_"},
	empty:    "Triton's page names no engine that is known",
	about:    tritonAbout,
}

// tritonVLLMKind is Triton with the vLLM back end: some of vLLM's names, with
// Triton's labels.
var tritonVLLMKind = kind{
	id: "triton-vllm", name: "Triton with vLLM",
	prefixes: []string{"vllm:"},
	with:     []string{"model", "version"},
	about:    tritonAbout,
	table:    &vllmTable,
}
