package kinds

import (
	"sonde/probe/engine"
)

// tgi reads the names of TGI 3; TGI names the model itself as its owner. Its
// counters do not end in _total.
var tgi = Kind{
	ID: "tgi", Name: "TGI",
	Entry: func(m Object) bool {
		return m.Text("id") != "" && m.Text("owned_by") == m.Text("id")
	},
	Prefixes: []string{"tgi_"},
	About:    tgiAbout,
	Tokenize: Tokenizer{
		Plain: []Question{{"/tokenize", func(_, prompt string) any { return map[string]any{"inputs": prompt} }, lengthOf("")}},
		Chat:  []Question{{"/chat_tokenize", messagesBody, lengthOf("tokenize_response")}},
	},
	Table: &Table{
		Prefixes: []string{"tgi_"},
		Gauges: map[engine.Field]Ways{
			engine.FieldKVFill:     {quotient(metric("batch_current_max_tokens"), metric("batch_max_total_tokens"))},
			engine.FieldRunning:    names("batch_current_size"),
			engine.FieldWaiting:    names("queue_size"),
			engine.FieldKVCapacity: names("batch_max_total_tokens"),
			engine.FieldKVUsed:     names("batch_current_max_tokens"),
		},
		Counters: map[engine.Field]Ways{
			engine.FieldPromptTokens:     names("request_input_length_sum"),
			engine.FieldGenerationTokens: names("request_generated_tokens_sum"),
			engine.FieldRequestsReceived: names("request_count"),
			engine.FieldRequestsOK:       names("request_success"),
			engine.FieldRequestsFailed:   names("request_failure"),
			engine.FieldRequestsAborted:  {one("request_failure", is(labelErr, "dropped"))},
		},
		Histograms: map[engine.Field]Ways{
			engine.FieldTPOT:  names("request_mean_time_per_token_duration"),
			engine.FieldQueue: names("request_queue_duration"),
			engine.FieldE2E:   names("request_duration"),
		},
		OnFinish: true,
		Remarks: map[engine.Field]string{
			engine.FieldKVFill: "tokens reserved for the batch, not occupied",
			engine.FieldKVUsed: "reserved for the batch, not occupied",
		},
	},
}

// tgiAbout reads /info. max_input_tokens was max_input_length before v2.
var tgiAbout = []About{{"/info", func(a Object, id *engine.Identity) bool {
	id.MaxModelLen = OrKeep(a.Number("max_total_tokens"), id.MaxModelLen)
	id.MaxInputLen = OrKeep(a.Number("max_input_length"), id.MaxInputLen)
	id.MaxInputLen = OrKeep(a.Number("max_input_tokens"), id.MaxInputLen)
	id.MaxRunning = OrKeep(a.Number("max_concurrent_requests"), id.MaxRunning)
	return version(a, id)
}}}
