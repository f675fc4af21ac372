package engine

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
		gauges: map[Field]names{
			FieldRunning:    {"batch_current_size"},
			FieldWaiting:    {"queue_size"},
			FieldKVCapacity: {"batch_max_total_tokens"},
			FieldKVUsed:     {"batch_current_max_tokens"},
		},
		kvFill: names{"batch_current_max_tokens / batch_max_total_tokens"},
		counters: map[Field]names{
			FieldPromptTokens:     {"request_input_length_sum"},
			FieldGenerationTokens: {"request_generated_tokens_sum"},
			FieldRequestsReceived: {"request_count"},
			FieldRequestsOK:       {"request_success"},
			FieldRequestsFailed:   {"request_failure"},
			FieldRequestsAborted:  {"request_failure{err=dropped}"},
		},
		histograms: map[Field]names{
			FieldTPOT:  {"request_mean_time_per_token_duration"},
			FieldQueue: {"request_queue_duration"},
			FieldE2E:   {"request_duration"},
		},
		onFinish: true,
		remarks: map[Field]string{
			FieldKVFill: "tokens reserved for the batch, not occupied",
			FieldKVUsed: "reserved for the batch, not occupied",
		},
	},
}
