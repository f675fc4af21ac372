package kinds

import (
	"fmt"

	"sonde/probe/engine"
)

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
