package scrape

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
)

// mock is a server that answers GET requests from a table and remembers them.
type mock struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// reply is an answer; an empty status means 200.
type reply struct {
	status int
	body   string
	file   string // in testdata; instead of body
	header map[string]string
}

func serve(t *testing.T, pages map[string]reply) *mock {
	t.Helper()
	m := &mock{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.asked = append(m.asked, r.Method+" "+r.URL.RequestURI())
		m.mu.Unlock()
		page, ok := pages[r.URL.RequestURI()]
		if !ok {
			page, ok = pages[r.URL.Path]
		}
		if !ok {
			page = reply{status: http.StatusNotFound, body: "not found"}
		}
		if page.file != "" {
			page.body = fixture(t, page.file)
		}
		for k, v := range page.header {
			w.Header().Set(k, v)
		}
		if page.status != 0 {
			w.WriteHeader(page.status)
		}
		if _, err := w.Write([]byte(page.body)); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *mock) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

func list1(owner string) reply {
	return reply{body: `{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"` + owner + `"}]}`}
}

// detection is a server as its answers show it, and what it is.
type detection struct {
	name  string
	pages map[string]reply
	want  engine.Identity // MetricsURL and GPUURL without the host
	never []string        // paths that must not be asked
}

// file is a recorded answer.
func file(name string) reply { return reply{file: name} }

var vllmPage = file("vllm-0.10.0.txt")

var detections = []detection{
	{
		name: "vLLM",
		pages: map[string]reply{
			"/v1/models": file("probe-vllm-v1-models.json.txt"), "/metrics": vllmPage, "/version": file("probe-vllm-version.json.txt"),
		},
		want: engine.Identity{Kind: "vllm", Name: "vLLM", Version: "0.10.0", Model: "meta-llama/Llama-3.1-8B-Instruct", MaxModelLen: 32768, MetricsURL: "/metrics"},
	},
	{
		name: "vLLM behind a proxy that renames the owner",
		pages: map[string]reply{
			"/v1/models": list1("acme"), "/metrics": vllmPage, "/version": file("probe-vllm-rust-version.json.txt"),
		},
		want: engine.Identity{Kind: "vllm", Name: "vLLM", Version: "0.22.1", Model: "m", MetricsURL: "/metrics"},
	},
	{
		name:  "model list without /v1",
		pages: map[string]reply{"/models": list1("vllm"), "/metrics": vllmPage},
		want:  engine.Identity{Kind: "vllm", Name: "vLLM", Model: "m", MetricsURL: "/metrics"},
	},
	{
		name: "our own engine goes before vLLM's names",
		pages: map[string]reply{
			"/v1/models": list1("sonde-sim"), "/metrics": vllmPage,
		},
		want: engine.Identity{Kind: "sonde-sim", Name: "sonde sim", Model: "m", MetricsURL: "/metrics", GPUURL: "/dcgm/metrics"},
	},
	{
		name: "our own engine by its header",
		pages: map[string]reply{
			"/v1/models": {body: list1("x").body, header: map[string]string{"Server": "sonde-sim/1.2"}}, "/metrics": vllmPage,
		},
		want: engine.Identity{Kind: "sonde-sim", Name: "sonde sim", Model: "m", MetricsURL: "/metrics", GPUURL: "/dcgm/metrics"},
	},
	{
		name: "SGLang, metrics on",
		pages: map[string]reply{
			"/v1/models": file("probe-sglang-v1-models.json.txt"), "/metrics": {body: "sglang:num_running_reqs 1\n"}, "/get_server_info": {body: `{"version":"0.4.6"}`},
		},
		want:  engine.Identity{Kind: "sglang", Name: "SGLang", Version: "0.4.6", Model: "Qwen/Qwen3-8B", MaxModelLen: 40960, MetricsURL: "/metrics"},
		never: []string{"/health"},
	},
	{
		name:  "SGLang, metrics off",
		pages: map[string]reply{"/v1/models": file("probe-sglang-v1-models.json.txt"), "/server_info": {body: `{"version":"0.5.18"}`}},
		want: engine.Identity{Kind: "sglang", Name: "SGLang", Version: "0.5.18", Model: "Qwen/Qwen3-8B", MaxModelLen: 40960,
			MetricsWhy: "404 at HOST/metrics: start SGLang with --enable-metrics"},
	},
	{
		name: "llama.cpp, metrics on",
		pages: map[string]reply{
			"/v1/models": file("probe-llamacpp-v1-models.json.txt"), "/props": file("probe-llamacpp-props.json.txt"),
			"/metrics": file("llamacpp-b10573.txt"),
		},
		want:  engine.Identity{Kind: "llama.cpp", Name: "llama.cpp", Version: "b10573", Model: "qwen2.5-7b", MaxModelLen: 8192, MetricsURL: "/metrics"},
		never: []string{"/v1/metrics", "/health"},
	},
	{
		name: "llama.cpp, metrics off",
		pages: map[string]reply{
			"/v1/models": {body: list1("me").body, header: map[string]string{"Server": "llama.cpp"}},
			"/props":     {body: `{"build_info":"b9000-abc","endpoint_metrics":false,"default_generation_settings":{"n_ctx":4096}}`},
		},
		want: engine.Identity{Kind: "llama.cpp", Name: "llama.cpp", Version: "b9000", Model: "m", MaxModelLen: 4096,
			MetricsWhy: "llama-server: start with --metrics"},
		never: []string{"/metrics"},
	},
	{
		name:  "TensorRT-LLM: reading /metrics would take its statistics away",
		pages: map[string]reply{"/v1/models": file("probe-trtllm-v1-models.json.txt"), "/metrics": {body: "[]"}, "/version": {body: `{"version":"1.1.0"}`}},
		want: engine.Identity{Kind: "tensorrt_llm", Name: "TensorRT-LLM", Version: "1.1.0", Model: "Qwen3-0.6B",
			MetricsWhy: "404 at HOST/prometheus/metrics: start trtllm-serve with return_perf_metrics: true in its YAML"},
		never: []string{"/metrics", "/perf_metrics"},
	},
	{
		name: "TGI",
		pages: map[string]reply{
			"/v1/models": file("probe-tgi-v1-models.json.txt"), "/metrics": {body: "tgi_queue_size 2\n"}, "/info": file("probe-tgi-info.json.txt"),
		},
		want:  engine.Identity{Kind: "tgi", Name: "TGI", Version: "3.3.7", Model: "meta-llama/Llama-3.1-8B-Instruct", MaxModelLen: 8192, MetricsURL: "/metrics"},
		never: []string{"/health"},
	},
	{
		name:  "LMDeploy",
		pages: map[string]reply{"/v1/models": file("probe-lmdeploy-v1-models.json.txt"), "/metrics": {body: "lmdeploy:num_requests_running 2\n"}},
		want:  engine.Identity{Kind: "lmdeploy", Name: "LMDeploy", Model: "internlm/internlm3-8b-instruct", MetricsURL: "/metrics"},
	},
	{
		name:  "MLC-LLM: reading its page costs a request",
		pages: map[string]reply{"/v1/models": file("probe-mlc-v1-models.json.txt"), "/metrics": file("mlc-llm-2026-07.txt")},
		want: engine.Identity{Kind: "mlc-llm", Name: "MLC-LLM", Model: "HF://mlc-ai/Llama-3-8B-Instruct-q4f16_1-MLC",
			MetricsWhy: kinds.ByID("mlc-llm").NoPage},
		never: []string{"/metrics"},
	},
	{
		name:  "Ollama",
		pages: map[string]reply{"/v1/models": file("probe-ollama-v1-models.json.txt"), "/api/version": file("probe-ollama-version.json.txt")},
		want:  engine.Identity{Kind: "ollama", Name: "Ollama", Version: "0.33.0", Model: "llama3.2:3b", MetricsWhy: "Ollama has no metrics page"},
		never: []string{"/metrics"},
	},
	{
		name:  "Ollama with a model of one's own",
		pages: map[string]reply{"/v1/models": list1("someone"), "/api/version": file("probe-ollama-version.json.txt")},
		want:  engine.Identity{Kind: "ollama", Name: "Ollama", Version: "0.33.0", Model: "m", MetricsWhy: "Ollama has no metrics page"},
	},
	{
		name:  "LM Studio",
		pages: map[string]reply{"/v1/models": file("probe-lmstudio-v1-models.json.txt"), "/api/v0/models": file("lmstudio-0.3-api-v0-models.json.txt")},
		want:  engine.Identity{Kind: "lmstudio", Name: "LM Studio", Model: "qwen2.5-7b-instruct", MaxModelLen: 8192, MetricsWhy: "LM Studio has no metrics page"},
		never: []string{"/metrics", "/api/version"},
	},
	{
		name: "LiteLLM repeats an owner",
		pages: map[string]reply{
			"/v1/models": {body: list1("vllm").body, header: map[string]string{"x-litellm-version": "1.81.9"}},
		},
		want: engine.Identity{Kind: "litellm", Name: "LiteLLM", Model: "m",
			MetricsWhy: `404 at HOST/metrics/: LiteLLM is a gateway: give the engine's own address with --metrics, or start LiteLLM with callbacks: ["prometheus"]`},
		never: []string{"/health"},
	},
	{
		name:  "Dynamo",
		pages: map[string]reply{"/v1/models": file("probe-dynamo-v1-models.json.txt"), "/health": {body: `{"status":"healthy"}`}, "/metrics": file("dynamo-frontend-2026-08.txt")},
		want:  engine.Identity{Kind: "dynamo-frontend", Name: "Dynamo", Model: "Qwen/Qwen3-0.6B", MetricsURL: "/metrics"},
	},
	{
		name:  "NIM",
		pages: map[string]reply{"/v1/models": file("probe-nim-1.x-v1-models.json.txt"), "/v1/health/ready": file("probe-nim-health-ready.json.txt"), "/v1/metrics": file("nim-1.x.txt")},
		want:  engine.Identity{Kind: "nim", Name: "NIM", Model: "meta/llama-3.1-8b-instruct", MaxModelLen: 131072, MetricsURL: "/v1/metrics"},
	},
	{
		name:  "NIM by its page alone",
		pages: map[string]reply{"/v1/models": list1("acme"), "/v1/metrics": file("nim-1.x.txt")},
		want:  engine.Identity{Kind: "nim", Name: "NIM", Model: "m", MetricsURL: "/v1/metrics"},
	},
	{
		name:  "NIM 2 passes its engine's page on",
		pages: map[string]reply{"/v1/models": list1("vllm"), "/v1/metrics": vllmPage},
		want:  engine.Identity{Kind: "vllm", Name: "vLLM", Model: "m", MetricsURL: "/v1/metrics"},
	},
	{
		name:  "OpenAI owns its models as NIM does",
		pages: map[string]reply{"/v1/models": list1("system")},
		want:  engine.Identity{Model: "m", MetricsWhy: "404 at HOST/metrics: give --metrics URL"},
	},
	{
		name:  "a model that NVIDIA made, behind somebody else",
		pages: map[string]reply{"/v1/models": list1("nvidia")},
		want:  engine.Identity{Model: "m", MetricsWhy: "404 at HOST/metrics: give --metrics URL"},
	},
	{
		name: "LiteLLM with its metrics on",
		pages: map[string]reply{
			"/v1/models": {file: "probe-litellm-v1-models.json.txt", header: map[string]string{"x-litellm-version": "1.81.9"}},
			"/metrics/":  file("litellm-1.81.txt"), "/health/readiness": {body: `{"status":"healthy","litellm_version":"1.81.9"}`},
		},
		want:  engine.Identity{Kind: "litellm", Name: "LiteLLM", Version: "1.81.9", Model: "llama-3-8b", MetricsURL: "/metrics/"},
		never: []string{"/health"},
	},
	{
		name:  "LiteLLM behind a proxy that takes its headers away",
		pages: map[string]reply{"/v1/models": file("probe-litellm-v1-models.json.txt"), "/metrics": file("litellm-1.81.txt")},
		want:  engine.Identity{Kind: "litellm", Name: "LiteLLM", Model: "llama-3-8b", MetricsURL: "/metrics"},
	},
	{
		name:  "the router of vLLM's production stack repeats the owner",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": file("vllm-production-stack-router.txt")},
		want:  engine.Identity{Kind: "vllm-production-stack-router", Name: "vLLM production-stack router", Model: "m", MetricsURL: "/metrics"},
	},
	{
		name:  "TensorRT-LLM of mid 2025, its names without a prefix, behind a proxy",
		pages: map[string]reply{"/v1/models": list1("acme"), "/prometheus/metrics": file("trtllm-serve-1.1-prometheus.txt")},
		want:  engine.Identity{Kind: "tensorrt_llm", Name: "TensorRT-LLM", Model: "m", MetricsURL: "/prometheus/metrics"},
	},
	{
		name:  "a gateway's endpoint picker at the same address",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": file("epp-llm-d-0.10.txt")},
		want:  engine.Identity{Kind: "llm-d-router-epp", Name: "llm-d router", Model: "m", MetricsURL: "/metrics"},
	},
	{
		name:  "SGLang's model gateway publishes its workers' pages",
		pages: map[string]reply{"/v1/models": list1("sglang"), "/engine_metrics": {body: "sglang_num_running_reqs{worker_addr=\"a\"} 1\n"}},
		want:  engine.Identity{Kind: "sglang", Name: "SGLang", Model: "m", MetricsURL: "/engine_metrics"},
		never: []string{"/health", "/health_generate"},
	},
	{
		name: "llama.cpp in router mode has a page for each model",
		pages: map[string]reply{
			"/v1/models": list1("llamacpp"), "/metrics": {status: 400, body: `{"error":{}}`}, "/metrics?model=m": file("llamacpp-b4750.txt"),
		},
		want: engine.Identity{Kind: "llama.cpp", Name: "llama.cpp", Model: "m", MetricsURL: "/metrics?model=m"},
	},
	{
		name:  "LM Studio behind a proxy answers 200 to every path",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": file("probe-lmstudio-unknown-path.json.txt")},
		want:  engine.Identity{Model: "m", MetricsWhy: "HOST/metrics: JSON, not a metrics page; give --metrics URL"},
	},
	{
		name:  "somebody else's server",
		pages: map[string]reply{"/v1/models": list1("acme")},
		want:  engine.Identity{Model: "m", MetricsWhy: "404 at HOST/metrics: give --metrics URL"},
	},
	{
		name: "an engine's page at another usual place",
		pages: map[string]reply{
			"/v1/models": list1("acme"), "/metrics": {body: "[]"}, "/prometheus/metrics": vllmPage,
		},
		want: engine.Identity{Kind: "vllm", Name: "vLLM", Model: "m", MetricsURL: "/prometheus/metrics"},
	},
	{
		name:  "a page without an engine is asked again later",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: "python_gc_objects_collected_total 1\n"}},
		want:  engine.Identity{Model: "m", MetricsURL: "/metrics"},
	},
	{
		name:  "a page that is HTML",
		pages: map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: "<html>"}},
		want:  engine.Identity{Model: "m", MetricsWhy: "HOST/metrics: HTML, not a metrics page; give --metrics URL"},
	},
	{
		name:  "a page that is down for now",
		pages: map[string]reply{"/v1/models": list1("vllm"), "/metrics": {status: 503}},
		want:  engine.Identity{Kind: "vllm", Name: "vLLM", Model: "m", MetricsURL: "/metrics"},
	},
}

func TestDetect(t *testing.T) {
	for _, tt := range detections {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, tt.pages)
			got, err := Detect(t.Context(), Config{Base: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			got.Models = nil
			got.MetricsURL = strings.TrimPrefix(got.MetricsURL, server.URL)
			got.GPUURL = strings.TrimPrefix(got.GPUURL, server.URL)
			got.MetricsWhy = strings.ReplaceAll(got.MetricsWhy, server.URL, "HOST")
			if !sameIdentity(got, tt.want) {
				t.Errorf("identity\n got %+v\nwant %+v", got, tt.want)
			}
			checkRequests(t, server.requests(), tt.never)
		})
	}
}

func sameIdentity(a, b engine.Identity) bool {
	a.Models, b.Models = nil, nil
	return a.Kind == b.Kind && a.Name == b.Name && a.Version == b.Version && a.Model == b.Model &&
		a.MaxModelLen == b.MaxModelLen && a.MetricsURL == b.MetricsURL && a.MetricsWhy == b.MetricsWhy && a.GPUURL == b.GPUURL
}

// checkRequests sees that detection is cheap: GET only, nothing twice, and nothing
// that costs the server something.
func checkRequests(t *testing.T, asked, never []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, request := range asked {
		path, isGet := strings.CutPrefix(request, "GET ")
		if !isGet || seen[path] || slices.Contains(never, path) {
			t.Errorf("request %q: only GET, each once, never one of %q", request, never)
		}
		seen[path] = true
	}
	if len(asked) > 8 {
		t.Errorf("%d requests: %q", len(asked), asked)
	}
}

func TestModelOfTheList(t *testing.T) {
	server := serve(t, map[string]reply{
		"/v1/models": {body: `{"data":[{"id":"a","owned_by":"x","max_model_len":1},{"id":"b","owned_by":"vllm","max_model_len":2}]}`},
	})
	got, err := Detect(t.Context(), Config{Base: server.URL, Model: "b", MetricsURL: "off"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Model != "b" || got.MaxModelLen != 2 || got.Kind != "vllm" || !slices.Equal(got.Models, []string{"a", "b"}) {
		t.Errorf("identity = %+v; want what the list says of model b", got)
	}
	if got.MetricsURL != "" || got.MetricsWhy != "switched off with --metrics off" {
		t.Errorf("metrics = %q, %q; want none", got.MetricsURL, got.MetricsWhy)
	}
	for _, asked := range server.requests() {
		if strings.Contains(asked, "metrics") {
			t.Errorf("asked %s although metrics are off", asked)
		}
	}
}

func TestGivenMetricsAddress(t *testing.T) {
	engine := serve(t, map[string]reply{"/metrics": {body: "vllm:num_requests_running 1\n"}})
	front := serve(t, map[string]reply{"/v1/models": list1("acme"), "/metrics": {body: "python_info 1\n"}})
	got, err := Detect(t.Context(), Config{Base: front.URL, MetricsURL: strings.TrimPrefix(engine.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != "vllm" || got.MetricsURL != engine.URL+"/metrics" {
		t.Errorf("identity = %+v; want vLLM by the page at %s", got, engine.URL)
	}
	if slices.Contains(front.requests(), "GET /metrics") {
		t.Error("the front's own page was asked although another was given")
	}
}

func TestGivenMetricsForms(t *testing.T) {
	for given, want := range map[string]string{
		"gpu-box:8002":                    "http://gpu-box:8002/metrics",
		"http://gpu-box:8002/":            "http://gpu-box:8002/metrics",
		"https://gpu-box/stats?format=x":  "https://gpu-box/stats?format=x",
		"gpu-box:8002/prometheus/metrics": "http://gpu-box:8002/prometheus/metrics",
		"[::1]:9400":                      "http://[::1]:9400/metrics",
	} {
		if got := (Config{MetricsURL: given}).givenMetrics(); got != want {
			t.Errorf("%q = %q, want %q", given, got, want)
		}
	}
}

func TestQueryIsKept(t *testing.T) {
	server := serve(t, map[string]reply{"/v1/models": list1("vllm"), "/metrics": {body: "vllm:num_requests_running 1\n"}})
	got, err := Detect(t.Context(), Config{Base: server.URL + "/", Query: "api-version=1"})
	if err != nil {
		t.Fatal(err)
	}
	if got.MetricsURL != server.URL+"/metrics" {
		t.Errorf("metrics URL %q must not hold the query: it may be a key", got.MetricsURL)
	}
	want := []string{"GET /v1/models?api-version=1", "GET /version?api-version=1", "GET /metrics?api-version=1"}
	if asked := server.requests(); !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
