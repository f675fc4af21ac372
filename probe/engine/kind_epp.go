package engine

// The endpoint pickers of the gateway API's inference extension and of llm-d speak
// of a pool: means over servers hide the one that is full.

const poolNote = "this is the page of a gateway: the KV cache fill is a mean over its servers, which hides a full one"

var eppKind = kind{
	id: "inference-gateway-epp", name: "Inference gateway",
	prefixes: []string{"inference_pool_", "inference_model_", "inference_objective_", "inference_extension_"},
	empty:    "give a server's own address with --metrics",
	table: &table{
		prefixes: []string{"inference_objective_", "inference_model_", "inference_pool_"},
		gauges: map[Field]names{
			FieldRunning:     {"running_requests"},
			FieldWaiting:     {"per_pod_queue_size", "average_queue_size * ready_pods"},
			FieldWaitingMean: {"average_queue_size"},
			FieldServers:     {"ready_pods"},
		},
		kvFill: names{"average_kv_cache_utilization"},
		counters: map[Field]names{
			FieldPromptTokens:     {"input_tokens_sum"},
			FieldGenerationTokens: {"output_tokens_sum"},
			FieldRequestsReceived: {"request_total"},
			FieldRequestsFailed:   {"request_error_total"},
		},
		histograms: map[Field]names{FieldE2E: {"request_duration_seconds"}},
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
		gauges: map[Field]names{
			FieldRunning:     {"request_running"},
			FieldWaiting:     {"per_endpoint_queue_size", "average_queue_size * ready_endpoints"},
			FieldWaitingMean: {"average_queue_size"},
			FieldServers:     {"ready_endpoints"},
		},
		kvFill: names{"average_kv_cache_utilization"},
		counters: map[Field]names{
			FieldPromptTokens:     {"request_input_tokens_sum"},
			FieldGenerationTokens: {"request_output_tokens_sum"},
			FieldRequestsReceived: {"request_total"},
			FieldRequestsFailed:   {"request_error_total"},
		},
		histograms: map[Field]names{
			FieldTTFT: {"request_ttft_seconds"},
			FieldGap:  {"request_streaming_itl_seconds"},
			FieldTPOT: {"request_streaming_tpot_seconds"},
			FieldE2E:  {"request_duration_seconds"},
		},
		router: true, meanFill: true, onFinish: true,
		remarks: poolRemarks,
		notes:   []string{poolNote},
	},
}

var poolRemarks = map[Field]string{
	FieldKVFill: "mean over the servers of the pool",
	FieldTTFT:   "up to the first byte of the answer, which may be earlier than the first token",
}
