package kinds

import (
	"context"
	"errors"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// llamacpp reads what llama-server counts. Every read of its page resets two
// gauges (…_tokens_seconds) for all its readers; they are not used here.
var llamacpp = Kind{
	ID: "llama.cpp", Name: "llama.cpp",
	OwnedBy: []string{"llamacpp"}, Server: "llama.cpp",
	Prefixes: []string{"llamacpp:", "llamacpp_"},
	Paths:    []string{"/metrics"},
	Missing:  "start llama-server with --metrics",
	// /props is there without a flag. Its n_ctx is per slot.
	About: []About{{"/props", func(a Object, id *engine.Identity) bool {
		id.Version, _, _ = strings.Cut(a.Text("build_info"), "-")
		id.MaxModelLen = OrKeep(a.Object("default_generation_settings").Number("n_ctx"), id.MaxModelLen)
		id.MaxRunning = OrKeep(a.Number("total_slots"), id.MaxRunning)
		if how := a.Text("model_ftype"); how != "" {
			id.About = append(id.About, "weights: "+how)
		}
		if on, known := a["endpoint_metrics"].(bool); known && !on {
			id.MetricsWhy = "llama-server: start with --metrics"
		}
		return id.Version != "" || id.MaxRunning > 0
	}}},
	// /slots moves with every token and is the only source for the KV cache since b5441
	// (2025-05); /props reports the sizes where /slots is off (--no-slots).
	Extra: []Extra{
		{
			Path: "/slots", Missing: "start llama-server without --no-slots", Read: readSlots,
			Fields: []engine.Field{engine.FieldRunning, engine.FieldMaxRunning, engine.FieldKVCapacity, engine.FieldKVUsed, engine.FieldKVFill},
		},
		{Path: "/props", Every: time.Minute, Read: readProps, Fields: []engine.Field{engine.FieldMaxRunning, engine.FieldMaxModelLen, engine.FieldKVCapacity}},
	},
	Tokenize: Tokenizer{
		Plain: []Question{{"/tokenize", contentBody, lengthOf("tokens")}},
		Chat: []Question{
			{"/apply-template", messagesBody, templated},
			{"/tokenize", contentBody, lengthOf("tokens")},
		},
	},
	Shape: llamacppShape,
	Table: &Table{
		Prefixes: []string{"llamacpp:", "llamacpp_"},
		Fields: map[engine.Field]Ways{
			engine.FieldKVFill:           Names("kv_cache_usage_ratio"), // removed at b5441
			engine.FieldRunning:          Names("requests_processing"),
			engine.FieldWaiting:          Names("requests_deferred"),
			engine.FieldKVUsed:           Names("kv_cache_tokens"),
			engine.FieldPromptTokens:     Names("prompt_tokens_total"),
			engine.FieldCachedTokens:     Names("prompt_tokens_cached_total"), // b10424
			engine.FieldGenerationTokens: Names("tokens_predicted_total"),
			engine.FieldPrefixQueries:    Names("prompt_tokens_cached_total + prompt_tokens_total"),
			engine.FieldPrefixHits:       Names("prompt_tokens_cached_total"),
		},
		Digits: 6,
		Remarks: map[engine.Field]string{
			engine.FieldPromptTokens: "computed, without cached ones",
		},
	},
}

// readSlots reads GET /slots: an object per slot. A slot keeps its last sequence as
// cache after the request has ended: only what busy slots hold counts as used.
func readSlots(b Body, into Into) error {
	list, err := b.list()
	if err != nil {
		return err
	}
	slots := Objects(list)
	if len(slots) == 0 {
		return errors.New("no list of slots")
	}
	busy, capacity := 0.0, opt.Of(0)
	used, reported := 0.0, false
	for _, slot := range slots {
		capacity = plus(capacity, slot.Figure("n_ctx"))
		tokens := slot.Figure("n_prompt_tokens") // prompt so far and generated ones; since b9282
		reported = reported || tokens.OK
		if processing, _ := slot["is_processing"].(bool); processing {
			busy++
			used += tokens.V
		}
	}
	into.Set(engine.FieldRunning, opt.Of(busy), "is_processing")
	into.Set(engine.FieldMaxRunning, opt.Of(float64(len(slots))), "slots")
	into.Set(engine.FieldKVCapacity, capacity, "n_ctx")
	if reported {
		into.Set(engine.FieldKVUsed, opt.Of(used), "n_prompt_tokens")
		into.Remark(engine.FieldKVUsed, "of busy slots; idle ones keep their last sequence as cache")
	}
	if reported && capacity.V > 0 {
		into.KV([]engine.RankFill{{Fill: min(used/capacity.V, 1)}}, nil, "n_prompt_tokens")
	} else if !into.KVFill.OK {
		into.Note("llama.cpp before b9282 (2026-05) does not report how full its KV cache is: update llama-server")
	}
	return nil
}

// readProps reads GET /props. Its n_ctx is that of one slot.
func readProps(b Body, into Into) error {
	o, err := b.Object()
	if err != nil {
		return err
	}
	slots := o.Figure("total_slots")
	context := o.Object("default_generation_settings").Figure("n_ctx")
	into.Fill(engine.FieldMaxRunning, slots, "total_slots")
	into.Fill(engine.FieldMaxModelLen, context, "n_ctx")
	if slots.OK && context.OK {
		into.Fill(engine.FieldKVCapacity, opt.Of(slots.V*context.V), "total_slots × n_ctx")
	}
	if sleeping, _ := o["is_sleeping"].(bool); sleeping {
		into.Note("llama-server is asleep (--sleep-idle-seconds): the first request reloads the model")
	}
	return nil
}

// nodeLlamaCpp are servers on node-llama-cpp, llama.cpp's library for Node.
// What they count is their own, without KV cache and latencies.
var nodeLlamaCpp = Kind{
	ID: "node-llama-cpp", Name: "node-llama-cpp",
	OwnedBy:  []string{"node-llama-cpp"},
	Prefixes: []string{"nlc:", "nlc_"},
	Paths:    []string{"/metrics"},
	Missing:  "node-llama-cpp has no metrics page of its own; the server built on it may add one",
	Table: &Table{
		Prefixes: []string{"nlc:", "nlc_"},
		Fields: map[engine.Field]Ways{
			engine.FieldRunning:          Names("requests_running"),
			engine.FieldWaiting:          Names("requests_waiting"),
			engine.FieldPromptTokens:     Names("prompt_tokens_total"),
			engine.FieldGenerationTokens: Names("generation_tokens_total"),
			engine.FieldRequestsReceived: Names("requests_total"),
		},
		Remarks: map[engine.Field]string{engine.FieldPromptTokens: "moves when a request ends"},
		Notes:   []string{"node-llama-cpp does not report its KV cache"},
	},
}

// contentBody is llama.cpp's; special tokens count as they do in a request.
func contentBody(_, prompt string) any {
	return map[string]any{"content": prompt, "add_special": true, "parse_special": true}
}

// templated reads the text that the engine would put a chat into.
func templated(response any) (string, int) {
	o, _ := response.(map[string]any)
	return Object(o).Text("prompt"), 0
}

// llamacppShape reads what llama.cpp adds to the entry of a model.
func llamacppShape(ctx context.Context, ask Asker, model string) roofline.ModelInfo {
	meta := ask.ModelEntry(ctx, model).Object("meta")
	return roofline.ModelInfo{
		Params: meta.Number("n_params"), WeightBytes: meta.Number("size"),
		HiddenSize: int(meta.Number("n_embd")), Vocabulary: int(meta.Number("n_vocab")),
	}
}
