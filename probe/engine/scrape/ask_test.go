package scrape

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sonde/probe/engine"
	"sonde/probe/roofline"
)

// speaking serves answers by method and path, and fails the test on a prompt.
func speaking(t *testing.T, answers map[string]string) Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "prompt") || strings.Contains(string(body), "messages") {
			t.Errorf("a prompt was sent: %s", body)
		}
		answer, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return Config{Base: server.URL}
}

func TestOllamaTellsTheShapeOfAModel(t *testing.T) {
	c := speaking(t, map[string]string{
		"POST /api/show": `{"details":{"quantization_level":"Q4_K_M"},"model_info":{"general.architecture":"qwen2",
			"general.parameter_count":7615616512,"qwen2.block_count":28,"qwen2.attention.head_count":28,
			"qwen2.attention.head_count_kv":4,"qwen2.embedding_length":3584,"qwen2.vocab_size":152064,"other.block_count":9},"tensors":[{"name":"token_embd.weight"},{"name":"output.weight"}]}`,
		"GET /api/tags": `{"models":[{"name":"other:latest","size":1},{"name":"qwen2.5:latest","size":4683087332}]}`,
	})
	got := AskModel(t.Context(), c, engine.Identity{Kind: "ollama", Model: "qwen2.5"})
	want := roofline.ModelInfo{Quantisation: "Q4_K_M", Params: 7615616512, WeightBytes: 4683087332,
		Layers: 28, Heads: 28, KVHeads: 4, HiddenSize: 3584, Vocabulary: 152064}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestOllamaTellsThatLayersDiffer(t *testing.T) {
	for key, value := range map[string]string{
		"attention.sliding_window": "1024", "ssm.state_size": "128", "attention.head_count_kv": "[8,0,8]",
	} {
		c := speaking(t, map[string]string{"POST /api/show": `{"model_info":{"general.architecture":"x","x.block_count":3,"x.` + key + `":` + value + `}}`})
		if got := AskModel(t.Context(), c, engine.Identity{Kind: "ollama", Model: "m"}); got.Irregular != key || got.Layers != 3 {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

func TestOneTableForInputAndOutput(t *testing.T) {
	c := speaking(t, map[string]string{"POST /api/show": `{"model_info":{},"tensors":[{"name":"token_embd.weight"}]}`})
	if !AskModel(t.Context(), c, engine.Identity{Kind: "ollama", Model: "m"}).Tied {
		t.Error("no output.weight among the tensors")
	}
}

func TestVLLMTellsTheTypeOfItsCache(t *testing.T) {
	for dtype, want := range map[string]int{"auto": 0, "fp8": 8, "fp8_e4m3": 8, "bfloat16": 16, "": 0, "mystery": 0} {
		c := speaking(t, map[string]string{
			"GET /v1/models": `{"data":[{"id":"prod"}]}`,
			"GET /metrics":   `vllm:cache_config_info{block_size="16",cache_dtype="` + dtype + `"} 1` + "\n",
		})
		if got := AskModel(t.Context(), c, engine.Identity{Kind: "vllm", Model: "prod", MetricsURL: c.Base + "/metrics"}); got != (roofline.ModelInfo{KVBits: want}) {
			t.Errorf("%q: %+v", dtype, got)
		}
	}
}

func TestOtherEnginesTellAPart(t *testing.T) {
	for kind, c := range map[string]struct {
		path, answer string
		want         roofline.ModelInfo
	}{
		"sglang": {"GET /get_server_info", `{"model_path":"Qwen/Qwen3-8B","tp_size":2,"quantization":"fp8","kv_cache_dtype":"fp8_e5m2"}`, roofline.ModelInfo{Path: "Qwen/Qwen3-8B", GPUs: 2, Quantisation: "fp8", KVBits: 8}},
		"vllm":   {"GET /v1/models", `{"data":[{"id":"prod","root":"/models/llama"}]}`, roofline.ModelInfo{Path: "/models/llama"}},
		"llama.cpp": {"GET /v1/models", `{"data":[{"id":"prod","meta":{"n_params":494032768,"size":397807616,"n_embd":896,"n_vocab":151936}}]}`,
			roofline.ModelInfo{Params: 494032768, WeightBytes: 397807616, HiddenSize: 896, Vocabulary: 151936}},
		"tgi":     {"GET /v1/models", `{"data":[{"id":"prod","root":"x"}]}`, roofline.ModelInfo{}},
		"ollama":  {"POST /api/show", `not JSON`, roofline.ModelInfo{}},
		"unknown": {"GET /", "", roofline.ModelInfo{}},
	} {
		if got := AskModel(t.Context(), speaking(t, map[string]string{c.path: c.answer}), engine.Identity{Kind: kind, Model: "prod"}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", kind, got, c.want)
		}
	}
}
