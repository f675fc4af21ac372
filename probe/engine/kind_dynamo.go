package engine

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
		gauges: map[Field]names{
			FieldRunning:     {"inflight_requests", "active_requests"},
			FieldWaiting:     {"queued_requests"},
			FieldKVCapacity:  {"model_total_kv_blocks * model_kv_cache_block_size"},
			FieldKVBlocks:    {"model_total_kv_blocks"},
			FieldMaxModelLen: {"model_context_length"},
			FieldMaxRunning:  {"model_max_num_seqs"},
		},
		counters: map[Field]names{
			FieldPromptTokens:     {"input_sequence_tokens_sum"},
			FieldCachedTokens:     {"cached_tokens_sum"},
			FieldGenerationTokens: {"output_tokens_total"}, // at every step
			FieldRequestsReceived: {"requests_started_total"},
			FieldRequestsOK:       {"requests_total{status=success}"},
			FieldRequestsFailed:   {"requests_total{status=error}"},
			FieldRequestsAborted:  {"requests_total{error_type=cancelled}"},
		},
		histograms: map[Field]names{
			FieldTTFT: {"time_to_first_token_seconds"},
			FieldGap:  {"inter_token_latency_seconds"},
			FieldE2E:  {"request_duration_seconds"},
		},
		router: true,
		remarks: map[Field]string{
			FieldWaiting:      "for the first token, prefill included",
			FieldRunning:      "with those that wait",
			FieldKVCapacity:   "of one worker",
			FieldPromptTokens: "moves when a request ends",
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
		gauges: map[Field]names{
			FieldRunning:  {"inflight_requests"},
			FieldKVBlocks: {"kvstats_total_blocks"},
		},
		kvFill:    names{"kvstats_gpu_cache_usage_percent"}, // a fraction
		hitRate:   names{"kvstats_gpu_prefix_cache_hit_rate"},
		counters:  map[Field]names{FieldRequestsReceived: {"requests_total"}},
		companion: true,
		via:       []via{{name: "Dynamo worker"}},
	},
}
