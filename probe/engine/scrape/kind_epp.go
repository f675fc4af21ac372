package scrape

import "sonde/probe/engine"

// The endpoint pickers of the gateway API's inference extension and of llm-d speak
// of a pool: means over servers hide the one that is full.

const poolNote = "this is the page of a gateway: the KV cache fill is a mean over its servers, which hides a full one"

var eppKind = kind{
	id: "inference-gateway-epp", name: "Inference gateway",
	prefixes: []string{"inference_pool_", "inference_model_", "inference_objective_", "inference_extension_"},
	empty:    "give a server's own address with --metrics",
	table: &table{
		prefixes: []string{"inference_objective_", "inference_model_", "inference_pool_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:     {"running_requests"},
			engine.FieldWaiting:     {"per_pod_queue_size", "average_queue_size * ready_pods"},
			engine.FieldWaitingMean: {"average_queue_size"},
			engine.FieldServers:     {"ready_pods"},
		},
		kvFill: names{"average_kv_cache_utilization"},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"input_tokens_sum"},
			engine.FieldGenerationTokens: {"output_tokens_sum"},
			engine.FieldRequestsReceived: {"request_total"},
			engine.FieldRequestsFailed:   {"request_error_total"},
		},
		histograms: map[engine.Field]names{engine.FieldE2E: {"request_duration_seconds"}},
		router:     true, meanFill: true, onFinish: true,
		remarks: poolRemarks,
		notes:   []string{poolNote},
	},
}

var llmdKind = kind{
	id: "llm-d-router-epp", name: "llm-d router",
	prefixes: []string{"llm_d_epp_"},
	empty:    "give a server's own address with --metrics",
	table: &table{
		prefixes: []string{"llm_d_epp_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:     {"request_running"},
			engine.FieldWaiting:     {"per_endpoint_queue_size", "average_queue_size * ready_endpoints"},
			engine.FieldWaitingMean: {"average_queue_size"},
			engine.FieldServers:     {"ready_endpoints"},
		},
		kvFill: names{"average_kv_cache_utilization"},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"request_input_tokens_sum"},
			engine.FieldGenerationTokens: {"request_output_tokens_sum"},
			engine.FieldRequestsReceived: {"request_total"},
			engine.FieldRequestsFailed:   {"request_error_total"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTTFT: {"request_ttft_seconds"},
			engine.FieldGap:  {"request_streaming_itl_seconds"},
			engine.FieldTPOT: {"request_streaming_tpot_seconds"},
			engine.FieldE2E:  {"request_duration_seconds"},
		},
		router: true, meanFill: true, onFinish: true,
		remarks: poolRemarks,
		notes:   []string{poolNote},
	},
}

var poolRemarks = map[engine.Field]string{
	engine.FieldKVFill: "mean over the servers of the pool",
	engine.FieldTTFT:   "up to the first byte of the answer, which may be earlier than the first token",
}
