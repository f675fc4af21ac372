package scrape

// kserveKind is KServe's server for models of Hugging Face: vLLM's names beside its
// own. Its API is below /openai, its metrics are not.
var kserveKind = kind{
	id: "kserve", name: "KServe with vLLM",
	prefixes: []string{"request_predict_seconds", "request_preprocess_seconds"},
	about:    []about{{"/v2", version}},
	passesOn: true,
}
