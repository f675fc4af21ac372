package scrape

import "sonde/probe/engine"

// tgiKind reads the names of TGI 3; TGI names the model itself as its owner. Its
// counters do not end in _total.
var tgiKind = kind{
	id: "tgi", name: "TGI",
	entry: func(m object) bool {
		return m.text("id") != "" && m.text("owned_by") == m.text("id")
	},
	prefixes: []string{"tgi_"},
	about:    tgiAbout,
	table: &table{
		prefixes: []string{"tgi_"},
		gauges: map[engine.Field]names{
			engine.FieldRunning:    {"batch_current_size"},
			engine.FieldWaiting:    {"queue_size"},
			engine.FieldKVCapacity: {"batch_max_total_tokens"},
			engine.FieldKVUsed:     {"batch_current_max_tokens"},
		},
		kvFill: names{"batch_current_max_tokens / batch_max_total_tokens"},
		counters: map[engine.Field]names{
			engine.FieldPromptTokens:     {"request_input_length_sum"},
			engine.FieldGenerationTokens: {"request_generated_tokens_sum"},
			engine.FieldRequestsReceived: {"request_count"},
			engine.FieldRequestsOK:       {"request_success"},
			engine.FieldRequestsFailed:   {"request_failure"},
			engine.FieldRequestsAborted:  {"request_failure{err=dropped}"},
		},
		histograms: map[engine.Field]names{
			engine.FieldTPOT:  {"request_mean_time_per_token_duration"},
			engine.FieldQueue: {"request_queue_duration"},
			engine.FieldE2E:   {"request_duration"},
		},
		onFinish: true,
		remarks: map[engine.Field]string{
			engine.FieldKVFill: "tokens reserved for the batch, not occupied",
			engine.FieldKVUsed: "reserved for the batch, not occupied",
		},
	},
}
