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
		Gauges: map[engine.Field]Ways{
			// The vendor's sample shows a fraction that is not used by max.
			engine.FieldKVFill: {
				quotient(metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "used")), metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "max"))),
				one("trt_llm_kv_cache_block_metrics", is(labelBlockType, "fraction")),
			},
			engine.FieldRunning:    {one("trt_llm_request_metrics", is(labelRequestType, "scheduled"))},
			engine.FieldWaiting:    {one("trt_llm_request_metrics", is(labelRequestType, "waiting"))},
			engine.FieldPaused:     {one("trt_llm_inflight_batcher_metrics", is(labelBatcherMetric, "paused_requests"))},
			engine.FieldMaxRunning: {one("trt_llm_request_metrics", is(labelRequestType, "max"))},
			engine.FieldKVCapacity: {product(metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "max")), metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "tokens_per")))},
			engine.FieldKVUsed:     {product(metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "used")), metric("trt_llm_kv_cache_block_metrics", is(labelBlockType, "tokens_per")))},
		},
		Counters: map[engine.Field]Ways{
			engine.FieldRequestsOK:     names("inference_request_success"),
			engine.FieldRequestsFailed: names("inference_request_failure"),
		},
		Histograms: map[engine.Field]Ways{engine.FieldTTFT: names("inference_first_response_histogram_ms")}, // decoupled models
		Means:      map[engine.Field]SumAndCount{engine.FieldQueue: {Sum: "inference_queue_duration_us", Count: "inference_request_success"}},
		// Every model of an ensemble counts a request: the one with the engine speaks.
		ModelFrom: names("trt_llm_request_metrics"),
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
