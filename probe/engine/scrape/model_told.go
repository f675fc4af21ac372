package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/prom"
	"sonde/probe/roofline"
)

// AskModel asks the engine about the model. It sends one or two requests, none of
// them a prompt, and knows nothing where the engine does not answer.
func AskModel(ctx context.Context, c Config, id engine.Identity) roofline.ModelInfo {
	f := newFetcher(c)
	switch id.Kind {
	case "ollama":
		return f.askOllamaModel(ctx, id.Model)
	case "sglang":
		return f.askSGLangModel(ctx)
	case "llama.cpp":
		return f.askModelList(ctx, id.Model)
	case "vllm":
		t := f.askModelList(ctx, id.Model)
		t.KVBits = f.cacheBits(ctx, id.MetricsURL)
		return t
	}
	return roofline.ModelInfo{}
}

// askModelList reads what vLLM (root) and llama.cpp (meta) add to the entry of a model.
func (f fetcher) askModelList(ctx context.Context, model string) roofline.ModelInfo {
	l, err := f.models(ctx)
	if err != nil {
		return roofline.ModelInfo{}
	}
	entry := l.entry(model)
	meta := entry.object("meta")
	return roofline.ModelInfo{
		Path: entry.text("root"), Params: meta.number("n_params"), WeightBytes: meta.number("size"),
		HiddenSize: int(meta.number("n_embd")), Vocabulary: int(meta.number("n_vocab")),
	}
}

// cacheBits reads the type of the KV cache from the labels of vLLM's configuration
// series. Where it follows the model ("auto") it is not told.
func (f fetcher) cacheBits(ctx context.Context, metrics string) int {
	const family = "vllm:cache_config_info"
	if metrics == "" {
		return 0
	}
	a, err := f.page(ctx, metrics)
	if err != nil || a.status != http.StatusOK {
		return 0
	}
	page, err := prom.Parse(a.body, func(name string) bool { return name == family })
	if err != nil {
		return 0
	}
	for _, s := range page.Samples(family) {
		if bits := bitsOf(s.Labels["cache_dtype"]); bits > 0 {
			return bits
		}
	}
	return 0
}

// bitsOf is the width of a type by its name: fp8_e4m3, int8, bfloat16; 0 if the name
// does not say.
func bitsOf(dtype string) int {
	switch dtype = strings.ToLower(dtype); {
	case strings.HasPrefix(dtype, "fp8"), strings.HasPrefix(dtype, "int8"), strings.HasPrefix(dtype, "float8"):
		return 8
	case dtype == "bfloat16", dtype == "float16", dtype == "half", dtype == "bf16", dtype == "fp16":
		return 16
	}
	return 0
}

// askSGLangModel reads the arguments that the server was started with. The path was
// called get_server_info before.
func (f fetcher) askSGLangModel(ctx context.Context) roofline.ModelInfo {
	for _, path := range []string{"/server_info", "/get_server_info"} {
		if a, ok := f.askJSON(ctx, path); ok {
			return roofline.ModelInfo{Path: a.text("model_path"), Quantisation: a.text("quantization"),
				GPUs: int(a.number("tp_size")), KVBits: bitsOf(a.text("kv_cache_dtype"))}
		}
	}
	return roofline.ModelInfo{}
}

// askOllamaModel reads the header of the model's file, whose keys begin with the
// architecture, and its size from the list of files.
func (f fetcher) askOllamaModel(ctx context.Context, model string) roofline.ModelInfo {
	a, ok := f.postJSON(ctx, "/api/show", map[string]string{"model": model})
	if !ok {
		return roofline.ModelInfo{}
	}
	info := a.object("model_info")
	architecture := info.text("general.architecture")
	number := func(key string) int { return int(info.number(architecture + "." + key)) }
	t := roofline.ModelInfo{
		Quantisation: a.object("details").text("quantization_level"),
		Params:       info.number("general.parameter_count"),
		Layers:       number("block_count"), Heads: number("attention.head_count"), KVHeads: number("attention.head_count_kv"),
		HiddenSize: number("embedding_length"), Vocabulary: number("vocab_size"),
		KeyDim: number("attention.key_length"), ValueDim: number("attention.value_length"),
		Experts: number("expert_count"), ExpertsPerToken: number("expert_used_count"),
		Irregular: irregular(info, architecture), Tied: tied(a.list("tensors")),
	}
	if tags, ok := f.askJSON(ctx, "/api/tags"); ok {
		t.WeightBytes = sizeOf(tags.list("models"), model)
	}
	return t
}

// tied tells whether a file that lists its tensors has no table for the output alone.
func tied(tensors []object) bool {
	for _, t := range tensors {
		if t.text("name") == "output.weight" {
			return false
		}
	}
	return len(tensors) > 0
}

// irregular names a key that says that layers are not alike.
func irregular(info object, architecture string) string {
	for key, v := range info {
		rest, ok := strings.CutPrefix(key, architecture+".")
		if !ok {
			continue
		}
		_, several := v.([]any)
		kind, _, _ := strings.Cut(rest, ".")
		if kind == "ssm" || strings.HasSuffix(rest, "sliding_window") || several && rest == "attention.head_count_kv" {
			return rest
		}
	}
	return ""
}

// sizeOf is the size of a model's file in bytes. The tag latest may be left out.
func sizeOf(files []object, model string) float64 {
	for _, m := range files {
		if name := m.text("name"); name == model || name == model+":latest" {
			return m.number("size")
		}
	}
	return 0
}

// postJSON sends an object to a path under the base and gets one back.
func (f fetcher) postJSON(ctx context.Context, path string, body any) (object, bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	c := probe(f.config.at(path))
	text, err := json.Marshal(body)
	if err != nil {
		return nil, false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.config.withQuery(c.address), bytes.NewReader(text))
	if err != nil {
		return nil, false
	}
	f.addHeader(req, c)
	req.Header.Set("Accept", c.accept)
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	answer, err := readAll(resp, c.limit)
	var o object
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(answer, &o) != nil {
		return nil, false
	}
	return o, true
}
