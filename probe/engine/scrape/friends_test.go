package scrape

import (
	"slices"
	"strings"
	"testing"
)

// friend is a server that could be taken for another engine, and the exact list of
// paths that detection may ask.
type friend struct {
	name   string
	base   string // path of the base URL
	pages  map[string]reply
	kind   string
	engine string // version of the engine; "" = not told
	page   string // metrics page; "" = none
	asked  []string
}

const (
	ollamaTags = `{"models":[{"name":"m","model":"m"}]}`
	ray        = "ray_vllm_num_requests_running{model_name=\"m\",ReplicaId=\"a\"} 1\n"
	bare       = "num_requests_running{model_name=\"m\"} 1\n"
	bareTRT    = "request_success_total{engine_type=\"undefined\",model_name=\"undefined\"} 1\n"
	tritonVLLM = "vllm:prompt_tokens_total{model=\"m\",version=\"1\"} 5\nnv_inference_request_success{model=\"m\",version=\"1\"} 5\n"
	kserve     = "request_predict_seconds_count{model_name=\"m\"} 1\nvllm:num_requests_running{model_name=\"m\"} 1\n"
	sglangPage = "sglang:num_running_reqs{model_name=\"m\"} 1\n"
)

var everyPlace = []string{"/metrics", "/v1/metrics", "/prometheus/metrics"}

func paths(lists ...[]string) []string { return slices.Concat(lists...) }

var friends = []friend{
	{
		name: "SGLang serves Ollama's paths",
		pages: map[string]reply{
			"/v1/models": file("probe-sglang-v1-models.json.txt"), "/": {body: "Ollama is running"}, "/api/tags": {body: ollamaTags},
			"/metrics": {body: sglangPage}, "/server_info": {body: `{"version":"0.5.18","tp_size":2}`},
		},
		kind: "sglang", engine: "0.5.18", page: "/metrics",
		asked: []string{"/v1/models", "/server_info", "/metrics"},
	},
	{
		name: "SGLang with Ollama's paths and without metrics, behind a proxy that renames the owner",
		pages: map[string]reply{
			"/v1/models": list1("acme"), "/": {body: "Ollama is running"}, "/api/tags": {body: ollamaTags},
		},
		kind:  "",
		asked: paths([]string{"/v1/models"}, everyPlace, []string{"/api/version"}),
	},
	{
		name:  "a proxy renames the owner, and the page tells",
		pages: map[string]reply{"/v1/models": list1("vllm"), "/metrics": {body: sglangPage}, "/version": {body: `{"version":"1"}`}, "/server_info": {body: `{"version":"0.5.1"}`}},
		kind:  "sglang", engine: "0.5.1", page: "/metrics",
		asked: []string{"/v1/models", "/version", "/metrics", "/server_info"},
	},
	{
		name: "llama.cpp's list carries one like Ollama's",
		pages: map[string]reply{
			"/v1/models": file("probe-llamacpp-v1-models.json.txt"), "/props": file("probe-llamacpp-props.json.txt"), "/metrics": file("llamacpp-b10573.txt"),
		},
		kind: "llama.cpp", engine: "b10573", page: "/metrics",
		asked: []string{"/v1/models", "/props", "/metrics"},
	},
	{
		name: "vLLM's names with a server: the production stack's router",
		pages: map[string]reply{
			"/v1/models": file("probe-vllm-v1-models.json.txt"), "/version": {body: `{"version":"0.1.7"}`}, "/metrics": file("vllm-production-stack-router.txt"),
		},
		kind: "vllm-production-stack-router", page: "/metrics",
		asked: []string{"/v1/models", "/version", "/metrics"},
	},
	{
		name:  "vLLM's names with model and version: Triton",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: tritonVLLM}, "/v2": {body: `{"name":"triton","version":"2.60.0"}`}},
		kind:  "triton-vllm", engine: "2.60.0", page: "/metrics",
		asked: []string{"/v1/models", "/metrics", "/v2"},
	},
	{
		name: "vLLM's names inside a NIM",
		pages: map[string]reply{
			"/v1/models": file("probe-vllm-v1-models.json.txt"), "/version": file("probe-vllm-version.json.txt"),
			"/v1/metrics": vllmPage, "/v1/metadata": {body: `{"version":"2.0.4","modelInfo":[]}`}, "/v1/version": {body: `{"release":"2.0.4","api":"1"}`},
		},
		kind: "nim", engine: "2.0.4", page: "/v1/metrics",
		asked: []string{"/v1/models", "/version", "/metrics", "/v1/metrics", "/v1/metadata", "/v1/version"},
	},
	{
		name:  "vLLM's names beside KServe's, its API below /openai",
		base:  "/openai",
		pages: map[string]reply{"/openai/v1/models": list1("kserve"), "/metrics": {body: kserve}, "/v2": {body: `{"name":"kserve","version":"0.16"}`}},
		kind:  "kserve", engine: "0.16", page: "/metrics",
		asked: []string{"/openai/v1/models", "/metrics", "/v2"},
	},
	{
		name:  "vLLM's names through Ray",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: ray}, "/version": file("probe-vllm-version.json.txt")},
		kind:  "vllm", engine: "0.10.0", page: "/metrics",
		asked: []string{"/v1/models", "/metrics", "/version"},
	},
	{
		name:  "a worker of Dynamo publishes the names of its engine",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": file("dynamo-worker-vllm.txt")},
		kind:  "vllm", page: "/metrics",
		asked: []string{"/v1/models", "/metrics", "/version"},
	},
	{
		name:  "names without a prefix: NIM 1",
		pages: map[string]reply{"/v1/models": list1("acme"), "/v1/metrics": {body: bare}, "/v1/version": {body: `{"release":"1.8.0"}`}},
		kind:  "nim", engine: "1.8.0", page: "/v1/metrics",
		asked: []string{"/v1/models", "/metrics", "/v1/metrics", "/v1/version"},
	},
	{
		name:  "names without a prefix, with engine_type: TensorRT-LLM",
		pages: map[string]reply{"/v1/models": list1("acme"), "/prometheus/metrics": {body: bareTRT}, "/version": {body: `{"version":"1.1.0"}`}},
		kind:  "tensorrt_llm", engine: "1.1.0", page: "/prometheus/metrics",
		asked: paths([]string{"/v1/models"}, everyPlace, []string{"/version"}),
	},
	{
		name:  "a list of iterations at /metrics: TensorRT-LLM under another owner, taken from once",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": file("trtllm-serve-iterstats.json.txt"), "/version": {body: `{"version":"1.2.0"}`}},
		kind:  "tensorrt_llm", engine: "1.2.0",
		asked: []string{"/v1/models", "/metrics", "/version"},
	},
	{
		name: "LiteLLM repeats the owner of the engine behind it",
		pages: map[string]reply{
			"/v1/models":        {body: list1("vllm").body, header: map[string]string{"x-litellm-version": "1.81.9"}},
			"/health/readiness": {body: `{"status":"connected","litellm_version":"1.81.9"}`},
		},
		kind: "litellm", engine: "1.81.9",
		asked: []string{"/v1/models", "/health/readiness", "/metrics/", "/metrics"},
	},
	{
		name:  "our own engine publishes vLLM's names",
		pages: map[string]reply{"/v1/models": list1("sonde-sim"), "/metrics": vllmPage, "/version": {body: `{"version":"dev"}`}},
		kind:  "sonde-sim", engine: "dev", page: "/metrics",
		asked: []string{"/v1/models", "/version", "/metrics"},
	},
	{
		name:  "LM Studio answers any path with 200: only the one that it knows is asked",
		pages: map[string]reply{"/v1/models": file("probe-lmstudio-v1-models.json.txt"), "/api/v0/models": file("lmstudio-0.3-api-v0-models.json.txt")},
		kind:  "lmstudio",
		asked: []string{"/v1/models", "/api/v0/models"},
	},
	{
		name:  "Ollama",
		pages: map[string]reply{"/v1/models": file("probe-ollama-v1-models.json.txt"), "/api/version": file("probe-ollama-version.json.txt")},
		kind:  "ollama", engine: "0.33.0",
		asked: []string{"/v1/models", "/api/version"},
	},
	{
		name:  "vLLM",
		pages: map[string]reply{"/v1/models": file("probe-vllm-v1-models.json.txt"), "/metrics": vllmPage, "/version": file("probe-vllm-version.json.txt")},
		kind:  "vllm", engine: "0.10.0", page: "/metrics",
		asked: []string{"/v1/models", "/version", "/metrics"},
	},
	{
		name:  "TGI",
		pages: map[string]reply{"/v1/models": file("probe-tgi-v1-models.json.txt"), "/metrics": file("tgi-3.3.7.txt"), "/info": file("probe-tgi-info.json.txt")},
		kind:  "tgi", engine: "3.3.7", page: "/metrics",
		asked: []string{"/v1/models", "/info", "/metrics"},
	},
	{
		name:  "TensorRT-LLM by its owner: its queue is not touched",
		pages: map[string]reply{"/v1/models": file("probe-trtllm-v1-models.json.txt"), "/metrics": file("trtllm-serve-iterstats.json.txt")},
		kind:  "tensorrt_llm",
		asked: []string{"/v1/models", "/version", "/prometheus/metrics"},
	},
	{
		name:  "a server on node-llama-cpp is not llama-server: it has neither /slots nor /props",
		pages: map[string]reply{"/v1/models": file("probe-node-llama-cpp-v1-models.json.txt"), "/metrics": file("node-llama-cpp-3.21.txt")},
		kind:  "node-llama-cpp", page: "/metrics",
		asked: []string{"/v1/models", "/metrics"},
	},
	{
		name:  "a front of HTML answers everything with 200",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: "<html>"}, "/v1/metrics": {body: "<html>"}, "/prometheus/metrics": {body: "<html>"}, "/api/version": {body: "<html>"}},
		kind:  "",
		asked: paths([]string{"/v1/models"}, everyPlace, []string{"/api/version"}),
	},
}

func TestFalseFriends(t *testing.T) {
	for _, tt := range friends {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, tt.pages)
			got, err := Detect(t.Context(), Config{Base: server.URL + tt.base})
			if err != nil {
				t.Fatal(err)
			}
			page := strings.TrimPrefix(got.MetricsURL, server.URL)
			if got.Kind != tt.kind || got.Version != tt.engine || page != tt.page {
				t.Errorf("kind %q, version %q, page %q; want %q, %q, %q", got.Kind, got.Version, page, tt.kind, tt.engine, tt.page)
			}
			if page == "" && got.MetricsWhy == "" {
				t.Error("no page, and no word why")
			}
			var asked []string
			for _, request := range server.requests() {
				asked = append(asked, strings.TrimPrefix(request, "GET "))
			}
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked %q\n want %q", asked, tt.asked)
			}
		})
	}
}

// Limits and other facts go into the identity, each from the server's own words.
func TestLimitsOfEngines(t *testing.T) {
	for name, tt := range map[string]struct {
		pages               map[string]reply
		context, in, atOnce int
		about               string
	}{
		"llama.cpp": {map[string]reply{"/v1/models": file("probe-llamacpp-v1-models.json.txt"), "/props": file("probe-llamacpp-props.json.txt")}, 8192, 0, 4, "weights: Q4_K - Medium"},
		"TGI":       {map[string]reply{"/v1/models": file("probe-tgi-v1-models.json.txt"), "/info": file("probe-tgi-info.json.txt")}, 8192, 4095, 128, ""},
		"SGLang": {map[string]reply{"/v1/models": list1("sglang"), "/server_info": {body: `{"version":"0.5","context_length":32768,"max_running_requests":48,"tp_size":4,"dp_size":1,"disaggregation_mode":"decode"}`}},
			32768, 0, 48, "tensor parallel 4, a decode worker"},
		"vLLM": {map[string]reply{"/v1/models": file("probe-vllm-v1-models.json.txt"), "/version": file("probe-vllm-rust-version.json.txt")}, 32768, 0, 0, "Rust front end 0.1.0"},
		"Dynamo": {map[string]reply{"/v1/models": file("probe-dynamo-v1-models.json.txt"),
			"/health": {body: `{"status":"healthy","instances":[{"endpoint":"generate","instance_id":7587888160958628000},{"endpoint":"clear_kv_blocks","instance_id":7587888160958628000},{"endpoint":"generate","instance_id":7587888160958628001}]}`}},
			0, 0, 0, "2 workers that generate"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Detect(t.Context(), Config{Base: serve(t, tt.pages).URL})
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxModelLen != tt.context || got.MaxInputLen != tt.in || got.MaxRunning != tt.atOnce || strings.Join(got.About, ", ") != tt.about {
				t.Errorf("identity = %+v, want %d, %d, %d, %q", got, tt.context, tt.in, tt.atOnce, tt.about)
			}
		})
	}
}
