package engine

// nodeLlamaCppKind are servers on node-llama-cpp, llama.cpp's library for Node.
// What they count is their own, without KV cache and latencies.
var nodeLlamaCppKind = kind{
	id: "node-llama-cpp", name: "node-llama-cpp",
	ownedBy:  []string{"node-llama-cpp"},
	prefixes: []string{"nlc:"},
	paths:    []string{"/metrics"},
	missing:  "node-llama-cpp has no metrics page of its own; the server around it may be made to have one",
	table: &table{
		prefixes: []string{"nlc:"},
		gauges: map[Field]names{
			FieldRunning: {"requests_running"},
			FieldWaiting: {"requests_waiting"},
		},
		counters: map[Field]names{
			FieldPromptTokens:     {"prompt_tokens_total"},
			FieldGenerationTokens: {"generation_tokens_total"},
			FieldRequestsReceived: {"requests_total"},
		},
		remarks: map[Field]string{FieldPromptTokens: "moves when a request ends"},
		notes:   []string{"KV cache not told by node-llama-cpp"},
	},
}
