package scrape

import "sonde/probe/engine"

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
		gauges: map[engine.Field]names{
			engine.FieldRunning: {"requests_running"},
			engine.FieldWaiting: {"requests_waiting"},
		},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"prompt_tokens_total"},
			engine.FieldGenerationTokens: {"generation_tokens_total"},
			engine.FieldRequestsReceived: {"requests_total"},
		},
		remarks: map[engine.Field]string{engine.FieldPromptTokens: "moves when a request ends"},
		notes:   []string{"KV cache not told by node-llama-cpp"},
	},
}
