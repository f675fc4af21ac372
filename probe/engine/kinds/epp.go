package kinds

import (
	"sonde/probe/engine"
)

// The endpoint pickers of the gateway API's inference extension and of llm-d speak
// of a pool: means over servers hide the one that is full.

var epp = Kind{
	ID: "inference-gateway-epp", Name: "Inference gateway",
	Prefixes: []string{"inference_pool_", "inference_model_", "inference_objective_", "inference_extension_"},
	Empty:    "give a server's own address with --metrics",
	Table:    &poolTable,
}

var llmd = Kind{
	ID: "llm-d-router-epp", Name: "llm-d router",
	Prefixes: []string{"llm_d_epp_"},
	Empty:    "give a server's own address with --metrics",
	Table:    &poolTable,
}

// poolTable has llm-d's names first. While it is being renamed, its page has them in both
// forms.
var poolTable = Table{
	Prefixes: []string{"llm_d_epp_", "inference_objective_", "inference_model_", "inference_pool_"},
	Fields: map[engine.Field]Ways{
		engine.FieldKVFill:           Names("average_kv_cache_utilization"),
		engine.FieldRunning:          Names("request_running", "running_requests"),
		engine.FieldWaiting:          Names("per_endpoint_queue_size", "per_pod_queue_size", "average_queue_size * ready_endpoints", "average_queue_size * ready_pods"),
		engine.FieldWaitingMean:      Names("average_queue_size"),
		engine.FieldServers:          Names("ready_endpoints", "ready_pods"),
		engine.FieldPromptTokens:     Names("request_input_tokens_sum", "input_tokens_sum"),
		engine.FieldGenerationTokens: Names("request_output_tokens_sum", "output_tokens_sum"),
		engine.FieldRequestsReceived: Names("request_total"),
		engine.FieldRequestsFailed:   Names("request_error_total"),
		engine.FieldTTFT:             Names("request_ttft_seconds"),
		engine.FieldGap:              Names("request_streaming_itl_seconds"),
		engine.FieldTPOT:             Names("request_streaming_tpot_seconds"),
		engine.FieldE2E:              Names("request_duration_seconds"),
	},
	Router: true, MeanFill: true, OnFinish: true,
	Remarks: map[engine.Field]string{
		engine.FieldKVFill: "mean over the servers of the pool",
		engine.FieldTTFT:   "until the first byte of the response, which may come before the first token",
	},
	Notes: []string{"this is a gateway's page: KV cache fill is the mean over its servers, which hides a full one"},
}
