package kinds

import (
	"sonde/probe/engine"
)

// The endpoint pickers of the gateway API's inference extension and of llm-d speak
// of a pool: means over servers hide the one that is full.

const poolNote = "this is a gateway's page: KV cache fill is the mean over its servers, which hides a full one"

var epp = Kind{
	ID: "inference-gateway-epp", Name: "Inference gateway",
	Prefixes: []string{"inference_pool_", "inference_model_", "inference_objective_", "inference_extension_"},
	Empty:    "give a server's own address with --metrics",
	Table: &Table{
		Prefixes: []string{"inference_objective_", "inference_model_", "inference_pool_"},
		Gauges: map[engine.Field]Ways{
			engine.FieldKVFill:      names("average_kv_cache_utilization"),
			engine.FieldRunning:     names("running_requests"),
			engine.FieldWaiting:     {one("per_pod_queue_size"), product(metric("average_queue_size"), metric("ready_pods"))},
			engine.FieldWaitingMean: names("average_queue_size"),
			engine.FieldServers:     names("ready_pods"),
		},
		Counters: map[engine.Field]Ways{
			engine.FieldPromptTokens:     names("input_tokens_sum"),
			engine.FieldGenerationTokens: names("output_tokens_sum"),
			engine.FieldRequestsReceived: names("request_total"),
			engine.FieldRequestsFailed:   names("request_error_total"),
		},
		Histograms: map[engine.Field]Ways{engine.FieldE2E: names("request_duration_seconds")},
		Router:     true, MeanFill: true, OnFinish: true,
		Remarks: poolRemarks,
		Notes:   []string{poolNote},
	},
}

var llmd = Kind{
	ID: "llm-d-router-epp", Name: "llm-d router",
	Prefixes: []string{"llm_d_epp_"},
	Empty:    "give a server's own address with --metrics",
	Table: &Table{
		Prefixes: []string{"llm_d_epp_"},
		Gauges: map[engine.Field]Ways{
			engine.FieldKVFill:      names("average_kv_cache_utilization"),
			engine.FieldRunning:     names("request_running"),
			engine.FieldWaiting:     {one("per_endpoint_queue_size"), product(metric("average_queue_size"), metric("ready_endpoints"))},
			engine.FieldWaitingMean: names("average_queue_size"),
			engine.FieldServers:     names("ready_endpoints"),
		},
		Counters: map[engine.Field]Ways{
			engine.FieldPromptTokens:     names("request_input_tokens_sum"),
			engine.FieldGenerationTokens: names("request_output_tokens_sum"),
			engine.FieldRequestsReceived: names("request_total"),
			engine.FieldRequestsFailed:   names("request_error_total"),
		},
		Histograms: map[engine.Field]Ways{
			engine.FieldTTFT: names("request_ttft_seconds"),
			engine.FieldGap:  names("request_streaming_itl_seconds"),
			engine.FieldTPOT: names("request_streaming_tpot_seconds"),
			engine.FieldE2E:  names("request_duration_seconds"),
		},
		Router: true, MeanFill: true, OnFinish: true,
		Remarks: poolRemarks,
		Notes:   []string{poolNote},
	},
}

var poolRemarks = map[engine.Field]string{
	engine.FieldKVFill: "mean over the servers of the pool",
	engine.FieldTTFT:   "until the first byte of the response, which may come before the first token",
}
