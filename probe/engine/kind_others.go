package engine

import "strings"

// Engines and gateways that are recognised and whose metrics are not read. Names,
// paths and marks are those of the servers' documentation and sources, 2026.

var litellmKind = kind{
	id: "litellm", name: "LiteLLM",
	header:   "x-litellm-version",
	prefixes: []string{"litellm_"},
	noPage:   "LiteLLM is a gateway: give the engine's own address with --metrics",
}

// llama.cpp resets two gauges at every read of its page, for all its readers.
var llamacppKind = kind{
	id: "llama.cpp", name: "llama.cpp",
	ownedBy: []string{"llamacpp"}, server: "llama.cpp",
	prefixes: []string{"llamacpp:"},
	noPage:   "llama.cpp's metrics are not read yet",
	about: []about{{"/props", func(a object, id *Identity) {
		id.Version, _, _ = strings.Cut(a.text("build_info"), "-")
		if n := a.object("default_generation_settings").number("n_ctx"); n > 0 {
			id.MaxModelLen = int(n) // per slot
		}
		if on, known := a["endpoint_metrics"].(bool); known && !on {
			id.MetricsWhy = "llama-server: start with --metrics"
		}
	}}},
}

var sglangKind = kind{
	id: "sglang", name: "SGLang",
	ownedBy:  []string{"sglang"},
	prefixes: []string{"sglang:", "sglang_"},
	missing:  "start SGLang with --enable-metrics",
	about:    []about{{"/server_info", version}, {"/get_server_info", version}},
}

// The JSON at TensorRT-LLM's /metrics is taken out of a queue by whoever reads it,
// so only the Prometheus page is looked at.
var trtllmKind = kind{
	id: "tensorrt-llm", name: "TensorRT-LLM",
	ownedBy:  []string{"tensorrt_llm"},
	prefixes: []string{"trtllm_", "nv_trt_llm_"},
	paths:    []string{"/prometheus/metrics"},
	missing:  "start trtllm-serve with return_perf_metrics: true in its YAML",
	about:    []about{{"/version", version}},
}

// TGI names the model itself as its owner.
var tgiKind = kind{
	id: "tgi", name: "TGI",
	entry: func(m object) bool {
		return m.text("id") != "" && m.text("owned_by") == m.text("id")
	},
	prefixes: []string{"tgi_"},
	about: []about{{"/info", func(a object, id *Identity) {
		version(a, id)
		if n := a.number("max_total_tokens"); n > 0 {
			id.MaxModelLen = int(n)
		}
	}}},
}

var lmdeployKind = kind{
	id: "lmdeploy", name: "LMDeploy",
	ownedBy:  []string{"lmdeploy"},
	prefixes: []string{"lmdeploy:"},
	missing:  "start LMDeploy without --disable-metrics (before 2025-11: with --enable-metrics)",
}

// Every read of MLC-LLM's page sends a request through the engine.
var mlcKind = kind{
	id: "mlc-llm", name: "MLC-LLM",
	ownedBy: []string{"MLC-LLM"},
	noPage:  "MLC-LLM's page says nothing of queue and KV cache, and every read of it costs a request",
}

var ollamaKind = kind{
	id: "ollama", name: "Ollama",
	ownedBy: []string{"library"},
	noPage:  "Ollama has no metrics page",
	about: []about{
		{"/api/version", version},
	},
}

// LM Studio leaves out when a model was created, and logs an error for every path
// that it does not know.
var lmstudioKind = kind{
	id: "lmstudio", name: "LM Studio",
	entry: func(m object) bool {
		_, created := m["created"]
		return m.text("owned_by") == "organization_owner" && !created
	},
	noPage: "LM Studio has no metrics page",
	about: []about{{"/api/v0/models", func(a object, id *Identity) {
		for _, m := range a.list("data") {
			if m.text("id") != id.Model {
				continue
			}
			for _, key := range []string{"loaded_context_length", "max_context_length"} {
				if n := m.number(key); n > 0 {
					id.MaxModelLen = int(n)
					return
				}
			}
		}
	}}},
}

var dynamoKind = kind{
	id: "dynamo", name: "Dynamo",
	ownedBy:  []string{"nvidia"},
	prefixes: []string{"dynamo_frontend_"},
	empty:    "give the address of a worker (its DYN_SYSTEM_PORT) with --metrics",
}

// NIM 1 publishes vLLM's names without a prefix; NIM 2 passes its engine's page on.
var nimKind = kind{
	id: "nim", name: "NIM",
	ownedBy:  []string{"system"},
	prefixes: []string{"num_requests_running", "num_request_max"},
	paths:    []string{"/v1/metrics", "/metrics"},
}

// version reads the field that most servers use.
func version(a object, id *Identity) { id.Version = a.text("version") }
