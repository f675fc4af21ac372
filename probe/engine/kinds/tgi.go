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
	About: []About{{"/info", func(a Object, id *engine.Identity) bool {
		id.MaxModelLen = OrKeep(a.Number("max_total_tokens"), id.MaxModelLen)
		id.MaxInputLen = OrKeep(a.Number("max_input_length"), id.MaxInputLen) // before v2
		id.MaxInputLen = OrKeep(a.Number("max_input_tokens"), id.MaxInputLen)
		id.MaxRunning = OrKeep(a.Number("max_concurrent_requests"), id.MaxRunning)
		return version(a, id)
	}}},
	Tokenize: Tokenizer{
		Plain: []Question{{"/tokenize", func(_, prompt string) any { return map[string]any{"inputs": prompt} }, lengthOf("")}},
		Chat:  []Question{{"/chat_tokenize", messagesBody, lengthOf("tokenize_response")}},
	},
	Table: &Table{
		Prefixes: []string{"tgi_"},
		Fields: map[engine.Field]Ways{
			engine.FieldKVFill:           Names("batch_current_max_tokens / batch_max_total_tokens"),
			engine.FieldRunning:          Names("batch_current_size"),
			engine.FieldWaiting:          Names("queue_size"),
			engine.FieldKVCapacity:       Names("batch_max_total_tokens"),
			engine.FieldKVUsed:           Names("batch_current_max_tokens"),
			engine.FieldPromptTokens:     Names("request_input_length_sum"),
			engine.FieldGenerationTokens: Names("request_generated_tokens_sum"),
			engine.FieldRequestsReceived: Names("request_count"),
			engine.FieldRequestsOK:       Names("request_success"),
			engine.FieldRequestsFailed:   Names("request_failure"),
			engine.FieldRequestsAborted:  Names("request_failure{err=dropped}"),
			engine.FieldTPOT:             Names("request_mean_time_per_token_duration"),
			engine.FieldQueue:            Names("request_queue_duration"),
			engine.FieldE2E:              Names("request_duration"),
		},
		OnFinish: true,
		Remarks: map[engine.Field]string{
			engine.FieldKVFill: "tokens reserved for the batch, not occupied",
			engine.FieldKVUsed: "reserved for the batch, not occupied",
		},
	},
}
