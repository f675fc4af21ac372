package scrape

import "sonde/probe/engine"

// llamacppKind reads what llama-server counts. Every read of its page resets two
// gauges (…_tokens_seconds) for all its readers; they are not used here.
var llamacppKind = kind{
	id: "llama.cpp", name: "llama.cpp",
	ownedBy: []string{"llamacpp"}, server: "llama.cpp",
	prefixes:     []string{"llamacpp:"},
	paths:        []string{"/metrics"},
	pagePerModel: true, // in router mode
	missing:      "start llama-server with --metrics",
	about:        llamacppAbout,
	extra:        llamacppExtras,
	table: &table{
		prefixes: []string{"llamacpp:"},
		gauges: map[engine.Field]names{
			engine.FieldRunning: {"requests_processing"},
			engine.FieldWaiting: {"requests_deferred"},
			engine.FieldKVUsed:  {"kv_cache_tokens"},
		},
		kvFill: names{"kv_cache_usage_ratio"}, // removed at b5441
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"prompt_tokens_total"},
			engine.FieldCachedTokens:     {"prompt_tokens_cached_total"}, // b10424
			engine.FieldGenerationTokens: {"tokens_predicted_total"},
			engine.FieldPrefixQueries:    {"prompt_tokens_cached_total + prompt_tokens_total"},
			engine.FieldPrefixHits:       {"prompt_tokens_cached_total"},
		},
		digits: 6,
		remarks: map[engine.Field]string{
			engine.FieldPromptTokens: "computed, without cached ones",
		},
	},
}
