package roofline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// configFile writes a config.json into a folder of the name "m".
func configFile(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// tiny is a dense model: per layer 10 × 4 × 2 × (2 + 1) = 240 in attention and
// 3 × 10 × 20 = 600 in the MLP, two tables of 1000, five norms of 10.
const tiny = `"hidden_size": 10, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
	"intermediate_size": 20, "vocab_size": 100`

const (
	tinyLlama = `"model_type": "llama", "torch_dtype": "bfloat16", ` + tiny
	tinyGemma = `"model_type": "gemma3_text", "dtype": "bfloat16", ` + tiny
)

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		what, text                string
		params, active, bytes, kv float64
		table                     float64
		layers, windowed          int
	}{
		{what: "dense", text: `{` + tinyLlama + `}`, params: 3730, active: 3730, bytes: 7460, table: 2000, kv: 32, layers: 2},
		{what: "tied", text: `{` + tinyLlama + `, "tie_word_embeddings": true}`, params: 2730, active: 2730, bytes: 5460, kv: 32, layers: 2},
		{what: "tied by default, every second layer full", text: `{` + tinyGemma + `, "sliding_window": 8, "sliding_window_pattern": 2}`,
			params: 2730, active: 2730, bytes: 5460, kv: 32, layers: 1, windowed: 1},
		{what: "nested", text: `{"torch_dtype": "float16", "tie_word_embeddings": true, "text_config": {"model_type": "mistral", ` + tiny + `}}`,
			params: 2730, active: 2730, bytes: 5460, kv: 32, layers: 2},
		{what: "defaults of heads", text: `{"model_type": "qwen2", "dtype": "bfloat16", "hidden_size": 10, "num_hidden_layers": 2,
			"num_attention_heads": 2, "intermediate_size": 20, "vocab_size": 100, "sliding_window": 5}`, // d 5, 2 KV heads: 400 in attention
			params: 4050, active: 4050, bytes: 8100, table: 2000, kv: 80, layers: 2},
		{what: "window of all layers", text: `{"model_type": "mistral", "dtype": "float16", "sliding_window": 8, ` + tiny + `}`,
			params: 3730, active: 3730, bytes: 7460, table: 2000, kv: 32, windowed: 2},
		{what: "upper layers", text: `{"model_type": "qwen2", "dtype": "float16", "use_sliding_window": true, "max_window_layers": 1, "sliding_window": 8, ` + tiny + `}`,
			params: 3730, active: 3730, bytes: 7460, table: 2000, kv: 32, layers: 1, windowed: 1},
		{what: "layer types", text: `{` + tinyLlama + `, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}`,
			params: 3730, active: 3730, bytes: 7460, table: 2000, kv: 32, layers: 1, windowed: 1},
		// one dense layer; one of 4 experts of 3 × 10 × 6 = 180, a shared one, and a router of 40
		{what: "experts", text: `{"model_type": "deepseek_v3", "dtype": "bfloat16", "n_routed_experts": 4, "num_experts_per_tok": 1,
			"moe_intermediate_size": 6, "n_shared_experts": 1, "first_k_dense_replace": 1, ` + tiny + `}`,
			params: 4070, active: 3530, bytes: 8140, table: 2000, kv: 32, layers: 2},
		// per layer: down and up of queries 10×3 + 3×2×(2+1), latent 10×(4+1), up 4×2×(2+2), output 2×2×10: 170
		{what: "latent cache", text: `{"model_type": "deepseek_v2", "dtype": "bfloat16", "kv_lora_rank": 4, "q_lora_rank": 3,
			"qk_rope_head_dim": 1, "qk_nope_head_dim": 2, "v_head_dim": 2, ` + tiny + `}`,
			params: 3590, active: 3590, bytes: 7180, table: 2000, kv: 20, layers: 2},
		// 2 × 840 in 4 bits and a scale of 16 for each 16 of them; 2050 at 16
		{what: "4 bits", text: `{` + tinyLlama + `, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 16}}`,
			params: 3730, active: 3730, bytes: 4100 + 1680*5.0/8, table: 2000, kv: 32, layers: 2},
		{what: "attention left out", text: `{` + tinyLlama + `, "quantization_config": {"quant_method": "fp8",
			"modules_to_not_convert": ["lm_head", "model.layers.*.self_attn", "model.layers.0.mlp.gate"]}}`,
			params: 3730, active: 3730, bytes: 4100 + 960 + 1200, table: 2000, kv: 32, layers: 2},
		{what: "compressed tensors", text: `{` + tinyLlama + `, "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"],
			"config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "group_size": null}, "input_activations": {"num_bits": 8, "type": "float"}}}}}`,
			params: 3730, active: 3730, bytes: 4100 + 1680, table: 2000, kv: 32, layers: 2},
	} {
		m, err := readModel(configFile(t, c.text))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if m.Name != "m" || m.Params != c.params || m.ActiveParams != c.active || m.WeightBytes != c.bytes || m.TableBytes != c.table ||
			m.KVBytesPerToken() != c.kv || m.Layers != c.layers || m.WindowedLayers != c.windowed {
			t.Errorf("%s: %+v", c.what, m)
		}
	}
}

func TestConfigThatLeavesSomethingOpen(t *testing.T) {
	for text, want := range map[string]string{
		`nonsense`: "is not the config.json of a model",
		`{"model_type": "llama", "dtype": "bfloat16"}`:                                                                                     "hidden_size is missing",
		`{"dtype": "bfloat16", ` + tiny + `}`:                                                                                              `the parameters of model_type "" cannot be counted`,
		`{"model_type": "mamba", "dtype": "bfloat16", ` + tiny + `}`:                                                                       `model_type "mamba"`,
		`{"model_type": "llama", ` + tiny + `}`:                                                                                            `its dtype is ""`,
		`{"model_type": "llama", "dtype": "float32", ` + tiny + `}`:                                                                        `its dtype is "float32"`,
		`{` + tinyLlama + `, "full_attention_interval": 4}`:                                                                                "not attention layers",
		`{` + tinyLlama + `, "hybrid_override_pattern": "M-M*"}`:                                                                           "not attention layers",
		`{` + tinyLlama + `, "attn_layer_indices": [1]}`:                                                                                   "not attention layers",
		`{` + tinyLlama + `, "layer_types": ["linear_attention", "full_attention"]}`:                                                       `"linear_attention"`,
		`{` + tinyLlama + `, "layer_types": ["full_attention"]}`:                                                                           "2 layers and 1 layer_types",
		`{` + tinyLlama + `, "layer_types": ["sliding_attention", "full_attention"]}`:                                                      "no sliding_window",
		`{` + tinyLlama + `, "sliding_window": 8}`:                                                                                         "does not say for which layers",
		`{"model_type": "qwen2", "dtype": "float16", "use_sliding_window": true, "sliding_window": 8, ` + tiny + `}`:                       "no max_window_layers",
		`{` + tinyLlama + `, "num_local_experts": 4}`:                                                                                      "no usable num_experts_per_tok",
		`{` + tinyLlama + `, "num_local_experts": 4, "num_experts_per_tok": 1}`:                                                            "no moe_intermediate_size",
		`{` + tinyLlama + `, "kv_lora_rank": 4}`:                                                                                           "not all of qk_rope_head_dim",
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "quark"}}`:                                                            `quant_method "quark"`,
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "gptq"}}`:                                                             "has no bits",
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "bitsandbytes"}}`:                                                     `quant_method "bitsandbytes"`,
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "fp8", "ignored_layers": 1, "ignore": ["model.layers.1.self_attn"]}}`: "put model.safetensors.index.json beside it",
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "compressed-tensors"}}`:                                               "0 config_groups",
		`{` + tinyLlama + `, "quantization_config": {"quant_method": "compressed-tensors",
			"config_groups": {"a": {"weights": {"num_bits": 8, "type": "int"}, "input_activations": {"num_bits": 8, "type": "int"}}}}}`: "products of 8-bit int operands",
	} {
		path := configFile(t, text)
		if _, err := readModel(path); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestSizeOnDiskOfQuantisedWeights(t *testing.T) {
	const index = `{"metadata": {"total_size": 5000}, "weight_map": {}}`
	for _, c := range []struct {
		what, text string
		bytes      float64
	}{
		{"quantised", `{` + tinyLlama + `, "quantization_config": {"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["model.layers.1.mlp"]}}`, 5000},
		{"not quantised", `{` + tinyLlama + `}`, 7460},
	} {
		path := configFile(t, c.text)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "model.safetensors.index.json"), []byte(index), 0o644); err != nil {
			t.Fatal(err)
		}
		if m, err := readModel(path); err != nil || m.WeightBytes != c.bytes {
			t.Errorf("%s: %g bytes, %v", c.what, m.WeightBytes, err)
		}
	}
}
