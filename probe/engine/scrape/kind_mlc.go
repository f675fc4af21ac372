package scrape

import (
	"time"

	"sonde/probe/engine"
)

// mlcKind is MLC-LLM, whose page is not quite Prometheus text. Every read of it
// sends a request through the engine, so it is read only when it is asked for.
var mlcKind = kind{
	id: "mlc-llm", name: "MLC-LLM",
	ownedBy:  []string{"MLC-LLM"},
	prefixes: []string{"engine_prefill_time_sum", "engine_decode_time_sum"},
	noPage:   "MLC-LLM's page says nothing of queue and KV cache, and every read of it costs a request; for its token counts give that page with --metrics",
	every:    10 * time.Second,
	table: &table{
		prefixes: []string{""},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"prompt_tokens_sum"},
			engine.FieldGenerationTokens: {"completion_tokens_sum"},
		},
		notes: []string{"every read of MLC-LLM's page costs it a request: it is read every 10 s"},
	},
}
