package scrape

import "sonde/probe/engine"

// dynamoKind is Dynamo's front end. It spells the model in lower case on some
// families and as it was given on others.
var dynamoKind = kind{
	id: "dynamo-frontend", name: "Dynamo",
	ownedBy:  []string{"nvidia"}, // of a model that NVIDIA made, others may say the same
	confirm:  &confirmation{"/health", func(a object) bool { return a.text("status") != "" }},
	prefixes: []string{"dynamo_frontend_"},
	empty:    "give the address of a worker (its DYN_SYSTEM_PORT) with --metrics",
	about:    dynamoAbout,
	table: &table{
		prefixes: []string{"dynamo_frontend_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:     {"inflight_requests", "active_requests"},
			engine.FieldWaiting:     {"queued_requests"},
			engine.FieldKVCapacity:  {"model_total_kv_blocks * model_kv_cache_block_size"},
			engine.FieldKVBlocks:    {"model_total_kv_blocks"},
			engine.FieldMaxModelLen: {"model_context_length"},
			engine.FieldMaxRunning:  {"model_max_num_seqs"},
		},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"input_sequence_tokens_sum"},
			engine.FieldCachedTokens:     {"cached_tokens_sum"},
			engine.FieldGenerationTokens: {"output_tokens_total"}, // at every step
			engine.FieldRequestsReceived: {"requests_started_total"},
			engine.FieldRequestsOK:       {"requests_total{status=success}"},
			engine.FieldRequestsFailed:   {"requests_total{status=error}"},
			engine.FieldRequestsAborted:  {"requests_total{error_type=cancelled}"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTTFT: {"time_to_first_token_seconds"},
			engine.FieldGap:  {"inter_token_latency_seconds"},
			engine.FieldE2E:  {"request_duration_seconds"},
		},
		router: true,
		remarks: map[engine.Field]string{
			engine.FieldWaiting:      "for the first token, prefill included",
			engine.FieldRunning:      "with those that wait",
			engine.FieldKVCapacity:   "of one worker",
			engine.FieldPromptTokens: "moves when a request ends",
		},
		notes: []string{"this is Dynamo's front end: the KV cache fill stands on a worker's page, give its address (DYN_SYSTEM_PORT) with --metrics"},
	},
}

// dynamoWorkerKind is what Dynamo adds to the names of the engine in a worker.
var dynamoWorkerKind = kind{
	id: "dynamo-worker", name: "Dynamo worker",
	prefixes: []string{"dynamo_component_"},
	table: &table{
		prefixes: []string{"dynamo_component_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:  {"inflight_requests"},
			engine.FieldKVBlocks: {"kvstats_total_blocks"},
		},
		kvFill:    names{"kvstats_gpu_cache_usage_percent"}, // a fraction
		hitRate:   names{"kvstats_gpu_prefix_cache_hit_rate"},
		counters:  map[engine.Field]names{engine.FieldRequestsReceived: {"requests_total"}},
		companion: true,
		via:       []via{{name: "Dynamo worker"}},
	},
}
