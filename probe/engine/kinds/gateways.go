package kinds

import (
	"fmt"

	"sonde/probe/engine"
)

// litellm is a gateway. The labels of its metrics hold hashes of keys and names
// of users and teams: only sums over them leave this package.
var litellm = Kind{
	ID: "litellm", Name: "LiteLLM",
	Header:   "x-litellm-version",
	Prefixes: []string{"litellm_"},
	Paths:    []string{"/metrics/", "/metrics"},
	Missing:  `LiteLLM is a gateway: give the engine's own address with --metrics, or start LiteLLM with callbacks: ["prometheus"]`,
	Empty:    "no request has gone through LiteLLM yet",
	// Not /health, which would send a request to every model.
	About: []About{{"/health/readiness", func(a Object, id *engine.Identity) bool {
		id.Version = a.Text("litellm_version")
		return id.Version != ""
	}}},
	Table: &Table{
		Prefixes: []string{"litellm_"},
		Fields: map[engine.Field]Ways{
			engine.FieldPromptTokens:     Names("input_tokens_metric_total"),
			engine.FieldGenerationTokens: Names("output_tokens_metric_total"),
			engine.FieldRequestsReceived: Names("proxy_total_requests_metric_total"),
			engine.FieldRequestsOK:       Names("proxy_total_requests_metric_total{status_code=200}"),
			engine.FieldRequestsFailed:   Names("proxy_failed_requests_metric_total"),
			engine.FieldTTFT:             Names("llm_api_time_to_first_token_metric"),
			engine.FieldE2E:              Names("request_total_latency_metric"),
		},
		Router: true, OnFinish: true,
		Notes: []string{"LiteLLM is a gateway: it reports neither queue nor KV cache; give the engine's own address with --metrics"},
	},
}

// The endpoint pickers of the gateway API's inference extension and of llm-d report on a
// pool: means over servers hide the one that is full.

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

// dynamo is Dynamo's front end. It spells the model in lower case on some
// families and as it was given on others.
var dynamo = Kind{
	ID: "dynamo-frontend", Name: "Dynamo",
	OwnedBy:  []string{"nvidia"}, // of a model that NVIDIA made, others may say the same
	Confirm:  &About{"/health", func(a Object, _ *engine.Identity) bool { return a.Text("status") != "" }},
	Prefixes: []string{"dynamo_frontend_"},
	Empty:    "give the address of a worker (its DYN_SYSTEM_PORT) with --metrics",
	// Its discovery knows the workers; none of them is asked.
	About: []About{{"/health", func(a Object, id *engine.Identity) bool {
		if _, known := a["instances"]; !known {
			return false
		}
		workers := 0
		for _, instance := range a.List("instances") {
			if instance.Text("endpoint") == "generate" { // a worker has further endpoints
				workers++
			}
		}
		id.About = append(id.About, fmt.Sprintf("%d workers that generate", workers))
		return true
	}}},
	Table: &Table{
		Prefixes: []string{"dynamo_frontend_"},
		Fields: map[engine.Field]Ways{
			engine.FieldRunning:          Names("inflight_requests", "active_requests"),
			engine.FieldWaiting:          Names("queued_requests"),
			engine.FieldKVCapacity:       Names("model_total_kv_blocks * model_kv_cache_block_size"),
			engine.FieldKVBlocks:         Names("model_total_kv_blocks"),
			engine.FieldMaxModelLen:      Names("model_context_length"),
			engine.FieldMaxRunning:       Names("model_max_num_seqs"),
			engine.FieldPromptTokens:     Names("input_sequence_tokens_sum"),
			engine.FieldCachedTokens:     Names("cached_tokens_sum"),
			engine.FieldGenerationTokens: Names("output_tokens_total"), // at every step
			engine.FieldRequestsReceived: Names("requests_started_total"),
			engine.FieldRequestsOK:       Names("requests_total{status=success}"),
			engine.FieldRequestsFailed:   Names("requests_total{status=error}"),
			engine.FieldRequestsAborted:  Names("requests_total{error_type=cancelled}"),
			engine.FieldTTFT:             Names("time_to_first_token_seconds"),
			engine.FieldGap:              Names("inter_token_latency_seconds"),
			engine.FieldE2E:              Names("request_duration_seconds"),
		},
		Router: true,
		Remarks: map[engine.Field]string{
			engine.FieldWaiting:      "until the first token, prefill included",
			engine.FieldRunning:      "waiting requests included",
			engine.FieldKVCapacity:   "of one worker",
			engine.FieldPromptTokens: "moves when a request ends",
		},
		Notes: []string{"this is Dynamo's front end: KV cache fill is on a worker's page; give its address (DYN_SYSTEM_PORT) with --metrics"},
	},
}

// dynamoWorker is what Dynamo adds to the names of the engine in a worker.
var dynamoWorker = Kind{
	ID: "dynamo-worker", Name: "Dynamo worker",
	Prefixes: []string{"dynamo_component_"},
	Table: &Table{
		Prefixes: []string{"dynamo_component_"},
		Fields: map[engine.Field]Ways{
			engine.FieldHitRateGauge:     Names("kvstats_gpu_prefix_cache_hit_rate"),
			engine.FieldKVFill:           Names("kvstats_gpu_cache_usage_percent"), // a fraction
			engine.FieldRunning:          Names("inflight_requests"),
			engine.FieldKVBlocks:         Names("kvstats_total_blocks"),
			engine.FieldRequestsReceived: Names("requests_total"),
		},
		Companion: true,
		Via:       []Via{{Name: "Dynamo worker"}},
	},
}
