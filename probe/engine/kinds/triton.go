package kinds

import (
	"sonde/probe/engine"
)

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
		// Every model of an ensemble counts a request: the one with the engine speaks.
		ModelFrom: Names("trt_llm_request_metrics"),
	},
}

// tritonOther is Triton with a back end that says nothing of queue and cache.
var tritonOther = Kind{
	ID: "triton", Name: "Triton",
	Prefixes: []string{"nv_inference_"},
	Empty:    "Triton's page shows no engine that is known",
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
