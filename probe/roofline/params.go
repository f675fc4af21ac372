package roofline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// countable are the model types that consist of nothing but the matrices counted
// here: attention, a gated MLP of three matrices or experts of such, embedding
// and output tables. Biases are omitted: less than a thousandth.
var countable = map[string]bool{
	"llama": true, "mistral": true, "qwen2": true, "qwen3": true, "phi3": true, "granite": true, "olmo2": true,
	"gemma": true, "gemma2": true, "gemma3_text": true, "qwen2_5_vl_text": true, "qwen3_vl_text": true,
	"mixtral": true, "qwen2_moe": true, "qwen3_moe": true, "gpt_oss": true,
	"deepseek_v2": true, "deepseek_v3": true, "kimi_k2": true, "glm4_moe": true,
}

// Parts of a model, by how they are stored and read.
const (
	inputTable = iota // embeddings; empty if the output table serves for them
	outputTable
	attentionPart
	densePart  // MLPs that every token passes, shared experts included
	expertPart // routed ones
	smallPart  // routers and norms
	partCount
)

// perPart has a number for each part: its parameters, or their bits.
type perPart [partCount]float64

func (p perPart) total() (sum float64) {
	for _, v := range p {
		sum += v
	}
	return sum
}

func (c modelConfig) parameters() (p perPart, err error) {
	hidden, layers := float64(c.HiddenSize), float64(c.Layers)
	p[outputTable] = float64(c.Vocabulary) * hidden
	p[smallPart] = hidden * (2*layers + 1)
	if !*c.Tied {
		p[inputTable] = p[outputTable]
	}
	attention, err := c.attentionParams()
	if err != nil {
		return p, err
	}
	p[attentionPart] = layers * attention
	sparse, err := c.sparseLayers()
	if err != nil {
		return p, err
	}
	if dense := c.Layers - sparse; dense > 0 {
		if c.FFN <= 0 {
			return p, errors.New("intermediate_size is missing")
		}
		p[densePart] = float64(dense) * 3 * hidden * float64(c.FFN)
	}
	expert := 3 * hidden * float64(c.ExpertFFN)
	p[expertPart] = float64(sparse) * float64(c.Experts) * expert
	p[densePart] += float64(sparse) * (float64(c.SharedExperts)*expert + 3*hidden*float64(c.SharedFFN))
	p[smallPart] += float64(sparse) * hidden * float64(c.Experts)
	return p, nil
}

// attentionParams are those of one layer.
func (c modelConfig) attentionParams() (float64, error) {
	hidden, heads := float64(c.HiddenSize), float64(c.Heads)
	if c.KVRank == 0 {
		return hidden * float64(c.HeadDim) * 2 * (heads + float64(c.KVHeads)), nil // Q and O, K and V
	}
	if c.RopeDim <= 0 || c.NopeDim <= 0 || c.ValueDim <= 0 {
		return 0, errors.New("it has kv_lora_rank, but not all of qk_rope_head_dim, qk_nope_head_dim and v_head_dim")
	}
	rank, query := float64(c.KVRank), heads*float64(c.NopeDim+c.RopeDim)
	params := hidden*(rank+float64(c.RopeDim)) + rank*heads*float64(c.NopeDim+c.ValueDim) + heads*float64(c.ValueDim)*hidden
	if c.QueryRank > 0 {
		return params + float64(c.QueryRank)*(hidden+query), nil
	}
	return params + hidden*query, nil
}

// sparseLayers counts the layers whose MLP consists of experts.
func (c modelConfig) sparseLayers() (int, error) {
	switch {
	case c.Experts == 0:
		return 0, nil
	case c.ExpertsPerToken <= 0 || c.ExpertsPerToken > c.Experts:
		return 0, errors.New("it has experts, but no usable num_experts_per_tok")
	case c.ExpertFFN <= 0:
		return 0, errors.New("it has experts, but no moe_intermediate_size")
	}
	n := 0
	for i := range c.Layers {
		dense := i < c.FirstDense || slices.Contains(c.DenseOnly, i) ||
			c.SparseStep > 1 && (i+1)%c.SparseStep != 0 || c.LayerFreq > 1 && i%c.LayerFreq != 0
		if !dense {
			n++
		}
	}
	return n, nil
}

// cache sets how much of a token each kind of layer caches.
func (c modelConfig) cache(m *Model) error {
	const bytesPerElement = 2
	windowed, err := c.windowedLayers()
	if err != nil {
		return err
	}
	m.Layers, m.WindowedLayers, m.Window = c.Layers-windowed, windowed, c.Window
	if c.KVRank > 0 {
		m.KVLayerBytes = float64(c.KVRank+c.RopeDim) * bytesPerElement
		m.HeadDim = float64(c.NopeDim+c.RopeDim+c.ValueDim) / 2
		return nil
	}
	m.KVHeads, m.HeadDim = c.KVHeads, float64(c.HeadDim)
	m.KVLayerBytes = 2 * float64(m.KVHeads) * m.HeadDim * bytesPerElement // K and V
	return nil
}

// windowedLayers counts the layers that attend to the last tokens only.
func (c modelConfig) windowedLayers() (int, error) {
	if len(c.LayerTypes) > 0 {
		return c.windowedTypes()
	}
	switch {
	case c.Window <= 0, c.UseWindow != nil && !*c.UseWindow:
		return 0, nil
	case strings.HasPrefix(c.ModelType, "qwen"):
		if c.UseWindow == nil { // off unless it is switched on
			return 0, nil
		}
		if c.MaxWindowLayers == nil {
			return 0, errors.New("it has use_sliding_window, but no max_window_layers")
		}
		return max(0, c.Layers-*c.MaxWindowLayers), nil
	case c.WindowPattern > 0: // the last of so many layers attends to everything
		return c.Layers - c.Layers/c.WindowPattern, nil
	case c.ModelType == "gemma2": // every other layer, beginning with the first
		return (c.Layers + 1) / 2, nil
	case c.ModelType == "mistral", c.ModelType == "mixtral", c.ModelType == "phi3":
		return c.Layers, nil
	}
	return 0, errors.New("it has a sliding_window, but does not say for which layers")
}

func (c modelConfig) windowedTypes() (int, error) {
	if len(c.LayerTypes) != c.Layers {
		return 0, fmt.Errorf("it has %d layers and %d layer_types", c.Layers, len(c.LayerTypes))
	}
	n := 0
	for _, kind := range c.LayerTypes {
		switch kind {
		case "full_attention":
		case "sliding_attention":
			n++
		default:
			return 0, fmt.Errorf("the cache of layers of type %q is unknown", kind)
		}
	}
	if n > 0 && c.Window <= 0 {
		return 0, errors.New("it has windowed layer_types, but no sliding_window")
	}
	return n, nil
}
