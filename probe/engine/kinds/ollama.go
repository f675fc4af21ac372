package kinds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

var Ollama = Kind{
	ID: "ollama", Name: "Ollama",
	OwnedBy: []string{"library"},
	NoPage:  "Ollama has no metrics page",
	About:   []About{{"/api/version", version}},
	// /api/ps reports which models are loaded and where, and loads none itself.
	Extra: []Extra{
		{Path: "/api/ps", Every: 5 * time.Second, Read: readLoaded, Fields: []engine.Field{engine.FieldModelsLoaded, engine.FieldMaxModelLen, engine.FieldGPUShare}},
	},
	Shape: ollamaShape,
}

// readLoaded reads GET /api/ps: an object per loaded model. Context lengths are
// reported since 0.9.
func readLoaded(b Body, into Into) error {
	o, err := b.Object()
	if err != nil {
		return err
	}
	loaded := o.List("models")
	into.Set(engine.FieldModelsLoaded, opt.Of(float64(len(loaded))), "models")
	into.Note("Ollama does not report its queue: beyond OLLAMA_NUM_PARALLEL streams, TTFT is mostly waiting")
	for _, m := range loaded {
		if sameOllamaModel(m.Text("name"), into.Wanted) {
			readLoadedModel(m, into)
			return nil
		}
	}
	into.Note(fmt.Sprintf("%s is not loaded: the first request loads it, which counts toward its TTFT", into.Wanted))
	return nil
}

func readLoadedModel(m Object, into Into) {
	into.Set(engine.FieldMaxModelLen, m.Figure("context_length"), "context_length")
	if !into.MaxModelLen.OK {
		into.Note("this Ollama version does not report its context length and silently truncates longer prompts: check the prompt's tokens, or update Ollama")
	}
	size, onGPU := m.Figure("size"), m.Figure("size_vram")
	if size.V > 0 && onGPU.OK {
		share := min(onGPU.V/size.V, 1)
		into.Set(engine.FieldGPUShare, opt.Of(share), "size_vram / size")
		into.Note(gpuShare(m.Text("name"), size.V, share))
	}
}

// gpuShare says where a model of that many bytes lies.
func gpuShare(name string, bytes, share float64) string {
	where := fmt.Sprintf("%.0f %% of it in GPU memory: the rest runs on the CPU", share*100)
	switch share {
	case 0:
		where = "none of it in GPU memory: it runs on the CPU"
	case 1:
		where = "all of it in GPU memory"
	}
	return fmt.Sprintf("%s is loaded, %.2g GB, %s", name, bytes/1e9, where)
}

// sameOllamaModel compares names; a tag that is not given is "latest".
func sameOllamaModel(a, b string) bool {
	tagged := func(name string) string {
		if strings.Contains(name, ":") {
			return name
		}
		return name + ":latest"
	}
	return strings.EqualFold(tagged(a), tagged(b))
}

// ollamaShape reads the header of the model's file, whose keys begin with the
// architecture, and its size from the list of files.
func ollamaShape(ctx context.Context, ask Asker, model string) roofline.ModelInfo {
	a, ok := ask.Ask(ctx, "/api/show", map[string]string{"model": model})
	if !ok {
		return roofline.ModelInfo{}
	}
	info := a.Object("model_info")
	architecture := info.Text("general.architecture")
	number := func(key string) int { return int(info.Number(architecture + "." + key)) }
	t := roofline.ModelInfo{
		Quantisation: a.Object("details").Text("quantization_level"),
		Params:       info.Number("general.parameter_count"),
		Layers:       number("block_count"), Heads: number("attention.head_count"), KVHeads: number("attention.head_count_kv"),
		HiddenSize: number("embedding_length"), Vocabulary: number("vocab_size"),
		KeyDim: number("attention.key_length"), ValueDim: number("attention.value_length"),
		Experts: number("expert_count"), ExpertsPerToken: number("expert_used_count"),
		Irregular: irregular(info, architecture), Tied: tied(a.List("tensors")),
	}
	if tags, ok := ask.Ask(ctx, "/api/tags", nil); ok {
		t.WeightBytes = sizeOf(tags.List("models"), model)
	}
	return t
}

// tied reports whether a file that lists its tensors has no table for the output alone.
func tied(tensors []Object) bool {
	for _, t := range tensors {
		if t.Text("name") == "output.weight" {
			return false
		}
	}
	return len(tensors) > 0
}

// irregular names a key that says that layers are not alike.
func irregular(info Object, architecture string) string {
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

// sizeOf is the size of a model's file in bytes. The tag latest may be omitted.
func sizeOf(files []Object, model string) float64 {
	for _, m := range files {
		if name := m.Text("name"); name == model || name == model+":latest" {
			return m.Number("size")
		}
	}
	return 0
}
