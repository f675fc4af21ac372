package roofline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// modelConfig holds the keys of a Hugging Face config.json that the arithmetic
// needs. An absent number is 0.
type modelConfig struct {
	ModelType string `json:"model_type"`
	// Multimodal models nest the part that generates text.
	Text     *modelConfig `json:"text_config"`
	LLM      *modelConfig `json:"llm_config"`
	Language *modelConfig `json:"language_config"`

	HiddenSize int   `json:"hidden_size"`
	Layers     int   `json:"num_hidden_layers"`
	Heads      int   `json:"num_attention_heads"`
	KVHeads    int   `json:"num_key_value_heads"` // absent: as many as heads
	HeadDim    int   `json:"head_dim"`            // absent: hidden size / heads
	FFN        int   `json:"intermediate_size"`
	Vocabulary int   `json:"vocab_size"`
	Tied       *bool `json:"tie_word_embeddings"`

	KVRank    int `json:"kv_lora_rank"` // MLA
	QueryRank int `json:"q_lora_rank"`
	RopeDim   int `json:"qk_rope_head_dim"`
	NopeDim   int `json:"qk_nope_head_dim"`
	ValueDim  int `json:"v_head_dim"`

	Experts         int   `json:"num_experts"`
	LocalExperts    int   `json:"num_local_experts"`
	RoutedExperts   int   `json:"n_routed_experts"`
	ExpertsPerToken int   `json:"num_experts_per_tok"`
	ExpertFFN       int   `json:"moe_intermediate_size"`
	SharedExperts   int   `json:"n_shared_experts"`
	SharedFFN       int   `json:"shared_expert_intermediate_size"`
	FirstDense      int   `json:"first_k_dense_replace"`
	SparseStep      int   `json:"decoder_sparse_step"`
	LayerFreq       int   `json:"moe_layer_freq"`
	DenseOnly       []int `json:"mlp_only_layers"`

	Window           int      `json:"sliding_window"`
	UseWindow        *bool    `json:"use_sliding_window"`
	WindowPattern    int      `json:"sliding_window_pattern"`
	MaxWindowLayers  *int     `json:"max_window_layers"`
	LayerTypes       []string `json:"layer_types"`
	HybridPattern    any      `json:"hybrid_override_pattern"`
	AttentionIndices []int    `json:"attn_layer_indices"`
	FullInterval     int      `json:"full_attention_interval"`

	TorchDtype string        `json:"torch_dtype"`
	Dtype      string        `json:"dtype"`
	Quant      *quantization `json:"quantization_config"`
	Predictors int           `json:"num_nextn_predict_layers"`
}

// readModel makes a Model from a config.json. The index of the weights beside it gives
// the size of quantised ones.
func readModel(path string) (Model, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Model{}, fmt.Errorf("cannot read %s: %w", path, errors.Unwrap(err))
	}
	var c modelConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return Model{}, fmt.Errorf("%s is not the config.json of a model: %w", path, err)
	}
	m, err := c.model(nameOf(path), bytesOnDisk(filepath.Join(filepath.Dir(path), "model.safetensors.index.json")))
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// nameOf is the folder that a config.json lies in, which is named for the model.
func nameOf(path string) string {
	if name := filepath.Base(filepath.Dir(path)); name != "." && name != ".." && name != string(filepath.Separator) {
		return name
	}
	return path
}

// bytesOnDisk reads the size of all weights from the index of their files; 0 if
// there is none.
func bytesOnDisk(path string) float64 {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var index struct {
		Metadata struct {
			TotalSize float64 `json:"total_size"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &index) != nil {
		return 0
	}
	return index.Metadata.TotalSize
}

// model computes the Model from the keys. Anything they leave open is an error: a
// floor that rests on a guess would be worse than none.
func (c modelConfig) model(name string, onDisk float64) (Model, error) {
	if part := c.languagePart(); part != nil {
		onDisk = 0 // the index counts the other parts, too
		c = *part
	}
	if err := c.check(); err != nil {
		return Model{}, err
	}
	c.fill()
	p, err := c.parameters()
	if err != nil {
		return Model{}, err
	}
	if p[expertPart] > 0 || c.Predictors > 0 {
		onDisk = 0 // the index does not show the experts' share, and counts layers that only draft
	}
	m := Model{Name: name, Params: p.total(), Heads: c.Heads, Hidden: c.HiddenSize}
	m.ActiveParams = m.Params - p[expertPart]
	if p[expertPart] > 0 {
		m.Experts, m.ExpertsPerToken = c.Experts, c.ExpertsPerToken
		m.ActiveParams += p[expertPart] * float64(m.ExpertsPerToken) / float64(m.Experts)
	}
	if err := c.cache(&m); err != nil {
		return Model{}, err
	}
	return m, c.weigh(&m, p, onDisk)
}

// languagePart is the nested part that generates text, with the settings that it
// shares with the whole; nil if there is none.
func (c modelConfig) languagePart() *modelConfig {
	part := cmp.Or(c.Text, c.LLM, c.Language)
	if part == nil {
		return nil
	}
	inner := *part
	inner.Quant = cmp.Or(inner.Quant, c.Quant)
	inner.Tied = cmp.Or(inner.Tied, c.Tied)
	inner.Dtype = cmp.Or(inner.Dtype, inner.TorchDtype, c.Dtype, c.TorchDtype)
	return &inner
}

// fill gives absent keys the values that they stand for.
func (c *modelConfig) fill() {
	c.Dtype = strings.TrimPrefix(cmp.Or(c.Dtype, c.TorchDtype), "torch.")
	c.KVHeads = cmp.Or(max(0, c.KVHeads), c.Heads)
	c.HeadDim = cmp.Or(max(0, c.HeadDim), c.HiddenSize/c.Heads)
	c.Experts = max(c.Experts, c.LocalExperts, c.RoutedExperts)
	if c.Tied == nil {
		tied := strings.HasPrefix(c.ModelType, "gemma")
		c.Tied = &tied
	}
	if c.ExpertFFN == 0 && (c.ModelType == "mixtral" || c.ModelType == "gpt_oss") {
		c.ExpertFFN = c.FFN // they have no key of its own for it
	}
}

// check rejects models with parts that are not counted here.
func (c modelConfig) check() error {
	for _, need := range []struct {
		key   string
		value int
	}{
		{"hidden_size", c.HiddenSize}, {"num_hidden_layers", c.Layers}, {"num_attention_heads", c.Heads}, {"vocab_size", c.Vocabulary},
	} {
		if need.value <= 0 {
			return fmt.Errorf("%s is missing", need.key)
		}
	}
	if c.HybridPattern != nil || len(c.AttentionIndices) > 0 || c.FullInterval > 0 {
		return errors.New("some layers are not attention layers, and their size is unknown")
	}
	if !countable[c.ModelType] {
		return fmt.Errorf("the parameters of model_type %q cannot be counted", strings.TrimSpace(c.ModelType))
	}
	return nil
}
