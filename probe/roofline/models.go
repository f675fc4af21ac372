package roofline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// knownModel is an open model with the keys of its published config.json.
type knownModel struct {
	name   string
	also   []string // further names of the same shape
	config modelConfig
}

// tied marks models whose one table serves input and output.
var tied = true

// modelTable lists models by family, each family from small to large.
var modelTable = []knownModel{
	llama("Llama-2-7B", 4096, 32, 32, 32, 11008, 32000),
	llama("Llama-2-13B", 5120, 40, 40, 40, 13824, 32000),
	{name: "Llama-3.2-1B", config: modelConfig{ModelType: "llama", HiddenSize: 2048, Layers: 16, Heads: 32, KVHeads: 8, HeadDim: 64,
		FFN: 8192, Vocabulary: 128256, Tied: &tied}},
	{name: "Llama-3.2-3B", config: modelConfig{ModelType: "llama", HiddenSize: 3072, Layers: 28, Heads: 24, KVHeads: 8, HeadDim: 128,
		FFN: 8192, Vocabulary: 128256, Tied: &tied}},
	llama("Llama-3.1-8B", 4096, 32, 32, 8, 14336, 128256, "Llama-3-8B", "DeepSeek-R1-Distill-Llama-8B"),
	llama("Llama-3.1-70B", 8192, 80, 64, 8, 28672, 128256, "Llama-3-70B", "Llama-3.3-70B", "DeepSeek-R1-Distill-Llama-70B"),
	llama("Llama-3.1-405B", 16384, 126, 128, 8, 53248, 128256),
	llama("Mistral-7B-v0.3", 4096, 32, 32, 8, 14336, 32768),
	{name: "Mixtral-8x7B-v0.1", also: []string{"Mixtral-8x7B"}, config: modelConfig{ModelType: "mixtral", HiddenSize: 4096, Layers: 32,
		Heads: 32, KVHeads: 8, FFN: 14336, Vocabulary: 32000, LocalExperts: 8, ExpertsPerToken: 2}},
	{name: "Phi-4", config: modelConfig{ModelType: "phi3", HiddenSize: 5120, Layers: 40, Heads: 40, KVHeads: 10, FFN: 17920, Vocabulary: 100352}},
	qwen25("0.5B", 896, 24, 14, 2, 4864, 151936, &tied),
	qwen25("1.5B", 1536, 28, 12, 2, 8960, 151936, &tied),
	qwen25("3B", 2048, 36, 16, 2, 11008, 151936, &tied),
	qwen25("7B", 3584, 28, 28, 4, 18944, 152064, nil),
	qwen25("14B", 5120, 48, 40, 8, 13824, 152064, nil),
	qwen25("32B", 5120, 64, 40, 8, 27648, 152064, nil),
	qwen25("72B", 8192, 80, 64, 8, 29568, 152064, nil),
	qwen3("0.6B", 1024, 28, 16, 3072, &tied),
	qwen3("1.7B", 2048, 28, 16, 6144, &tied),
	qwen3("4B", 2560, 36, 32, 9728, &tied),
	qwen3("8B", 4096, 36, 32, 12288, nil),
	qwen3("14B", 5120, 40, 40, 17408, nil),
	qwen3("32B", 5120, 64, 64, 25600, nil),
	qwen3MoE("Qwen3-30B-A3B", 2048, 48, 32, 768),
	qwen3MoE("Qwen3-235B-A22B", 4096, 94, 64, 1536),
	gptOSS("gpt-oss-20b", 24, 32),
	gptOSS("gpt-oss-120b", 36, 128),
	{name: "DeepSeek-V3", also: []string{"DeepSeek-V3.1", "DeepSeek-R1"}, config: modelConfig{ModelType: "deepseek_v3",
		HiddenSize: 7168, Layers: 61, Heads: 128, FFN: 18432, Vocabulary: 129280,
		KVRank: 512, QueryRank: 1536, RopeDim: 64, NopeDim: 128, ValueDim: 128,
		RoutedExperts: 256, ExpertsPerToken: 8, ExpertFFN: 2048, SharedExperts: 1, FirstDense: 3,
		Quant: &quantization{Method: "fp8"}}},
}

func llama(name string, hidden, layers, heads, kvHeads, ffn, vocabulary int, also ...string) knownModel {
	return knownModel{name: name, also: also, config: modelConfig{ModelType: "llama", HiddenSize: hidden, Layers: layers,
		Heads: heads, KVHeads: kvHeads, FFN: ffn, Vocabulary: vocabulary}}
}

func qwen25(size string, hidden, layers, heads, kvHeads, ffn, vocabulary int, tied *bool) knownModel {
	return knownModel{name: "Qwen2.5-" + size, config: modelConfig{ModelType: "qwen2", HiddenSize: hidden, Layers: layers,
		Heads: heads, KVHeads: kvHeads, FFN: ffn, Vocabulary: vocabulary, Tied: tied}}
}

func qwen3(size string, hidden, layers, heads, ffn int, tied *bool) knownModel {
	return knownModel{name: "Qwen3-" + size, config: modelConfig{ModelType: "qwen3", HiddenSize: hidden, Layers: layers,
		Heads: heads, KVHeads: 8, HeadDim: 128, FFN: ffn, Vocabulary: 151936, Tied: tied}}
}

func qwen3MoE(name string, hidden, layers, heads, expertFFN int) knownModel {
	return knownModel{name: name, config: modelConfig{ModelType: "qwen3_moe", HiddenSize: hidden, Layers: layers,
		Heads: heads, KVHeads: 4, HeadDim: 128, Vocabulary: 151936, Experts: 128, ExpertsPerToken: 8, ExpertFFN: expertFFN}}
}

// gptOSS stores its experts in 4 bits; every other layer has a window.
func gptOSS(name string, layers, experts int) knownModel {
	c := modelConfig{ModelType: "gpt_oss", HiddenSize: 2880, Layers: layers, Heads: 64, KVHeads: 8, HeadDim: 64,
		FFN: 2880, Vocabulary: 201088, LocalExperts: experts, ExpertsPerToken: 4, Window: 128, WindowPattern: 2,
		Quant: &quantization{Method: "mxfp4", Unchanged: []any{"model.layers.*.self_attn", "model.layers.*.mlp.router"}}}
	return knownModel{name: name, config: c}
}

// ModelNames lists the names that ModelNamed knows.
func ModelNames() []string {
	names := make([]string, len(modelTable))
	for i, k := range modelTable {
		names[i] = k.name
	}
	return names
}

// ModelNamed looks up a model by its name or by an id such as
// "meta-llama/Llama-3.1-8B-Instruct". It ignores words that do not change the shape;
// any other word makes it another model.
func ModelNamed(id string) (Model, error) {
	name := id[strings.LastIndexByte(id, '/')+1:]
	words, weights, err := idWords(name)
	if err != nil {
		return Model{}, err
	}
	k, ok := knownNames()[words]
	if !ok {
		return Model{}, fmt.Errorf("unknown model %q", name)
	}
	if weights != nil && k.config.Quant != nil {
		return Model{}, fmt.Errorf("the weights of %q are unknown: it is quantised differently from %s", name, k.name)
	}
	return k.model(weights)
}

// stored are the formats of weights that a simulated engine serves: 4-bit ones have a
// 16-bit scale for each group of 128, as AWQ and GPTQ store them.
var stored = map[string]*quantization{
	"bf16": nil,
	"fp8":  {Method: "fp8"},
	"int4": {Method: "gptq", Bits: 4, Group: 128},
}

// ModelAs is a model of ModelNames with its weights stored as "bf16", "fp8" or "int4".
func ModelAs(name, dtype string) (Model, error) {
	words, _, _ := idWords(name)
	k, ok := knownNames()[words]
	if !ok {
		return Model{}, fmt.Errorf("unknown model %q", name)
	}
	weights, ok := stored[dtype]
	if !ok {
		return Model{}, fmt.Errorf("unknown dtype %q", dtype)
	}
	return k.model(weights)
}

// model is the shape with other weights than the published ones; nil keeps those.
func (k knownModel) model(weights *quantization) (Model, error) {
	c := k.config
	c.Dtype = "bfloat16"
	if weights != nil {
		c.Quant = weights
	}
	return c.model(k.name, 0)
}

// knownNames finds models by the words of their names.
var knownNames = sync.OnceValue(func() map[string]knownModel {
	byWords := map[string]knownModel{}
	for _, k := range modelTable {
		for _, name := range append(k.also, k.name) {
			words, _, _ := idWords(name) // plain names: no quantisation in them
			byWords[words] = k
		}
	}
	return byWords
})

var (
	wordBreak = regexp.MustCompile(`[-_\s]+`)
	dateWord  = regexp.MustCompile(`^\d{4}$`) // a release, as in DeepSeek-V3-0324
)

// sameShape are words of ids that say how a model was trained, not which shape it has.
var sameShape = map[string]bool{
	"meta": true, "instruct": true, "chat": true, "it": true, "hf": true, "base": true, "thinking": true,
	"coder": true, "math": true, "bf16": true, "fp16": true,
}

// inName are the quantisations that ids name. Ids do not show the group size; without
// it the bytes are the least possible.
var inName = map[string]*quantization{
	"fp8":   {Method: "fp8"},
	"awq":   {Method: "awq", Bits: 4},
	"int4":  {Method: "gptq", Bits: 4},
	"w4a16": {Method: "gptq", Bits: 4},
}

// besideIt are words that add to a quantisation that the id names as well.
var besideIt = map[string]bool{"gptq": true, "dynamic": true, "quantized": true}

// idWords returns the words of an id that identify the model, and how its weights are
// quantised if the id says so.
func idWords(name string) (words string, weights *quantization, err error) {
	if strings.Contains(name, ":") || strings.Contains(strings.ToLower(name), "gguf") {
		return "", nil, fmt.Errorf("unknown quantisation of the weights of %q", name)
	}
	all := wordBreak.Split(strings.ToLower(strings.TrimSpace(name)), -1)
	for _, w := range all {
		if q := inName[w]; q != nil {
			weights = q
		}
	}
	kept := slices.DeleteFunc(all, func(w string) bool {
		return sameShape[w] || dateWord.MatchString(w) || weights != nil && (inName[w] != nil || besideIt[w])
	})
	return strings.Join(kept, " "), weights, nil
}
