package roofline

import (
	"fmt"
	"math"
)

// Model is the shape of a model. Full layers keep the KV cache of the whole context,
// windowed ones that of its last Window tokens.
type Model struct {
	Name    string
	Weights string // format of the weights, for people: "16-bit weights"

	Params       float64 // all of them
	ActiveParams float64 // that are used for one token; Params for dense models
	WeightBytes  float64 // all weights, as the engine holds them
	TableBytes   float64 // of an input embedding of its own, of which a step reads a few rows only
	EightBit     bool    // products are computed with 8-bit operands

	Experts, ExpertsPerToken int     // routed ones per layer; 0 for dense models
	ExpertBytes              float64 // of all routed experts of all layers

	Layers         int     // that attend to all of the context
	WindowedLayers int     // that attend to its last Window tokens only
	Window         int     // tokens
	Heads          int     // query heads
	HeadDim        float64 // mean of key and value dimension
	Hidden         int     // width of what passes from layer to layer
	KVHeads        int     // 0: a latent cache without heads (MLA)
	KVLayerBytes   float64 // KV cache of one token in one layer
	KVBits         int     // of one of its elements; 0: assumed to be 16
}

// WithKVBits is the model with a KV cache whose elements have so many bits.
func (m Model) WithKVBits(bits int) Model {
	m.KVLayerBytes *= float64(bits) / 16
	m.KVBits = bits
	return m
}

// KVBytesPerToken is what one token takes in the KV cache of all layers.
func (m *Model) KVBytesPerToken() float64 {
	return float64(m.Layers+m.WindowedLayers) * m.KVLayerBytes
}

// KVBytes is what one sequence with so many tokens of context holds in the KV cache,
// and what a step reads of it. Windowed layers keep no more than their window.
func (m *Model) KVBytes(context float64) float64 {
	windowed := math.Min(context, float64(m.Window))
	return m.KVLayerBytes * (float64(m.Layers)*context + float64(m.WindowedLayers)*windowed)
}

// WeightsRead is the bytes of the weights that a step over that many tokens reads. Of
// routed experts it reads those that at least one token chose: with even routing
// E·(1−(1−k/E)ⁿ) of E.
func (m *Model) WeightsRead(tokens float64) float64 {
	read := m.WeightBytes - m.TableBytes
	if m.Experts > 0 {
		read -= m.ExpertBytes * math.Pow(1-float64(m.ExpertsPerToken)/float64(m.Experts), math.Max(1, tokens))
	}
	return read
}

// AttentionFLOP is the arithmetic of causal attention of fresh tokens behind
// cached ones: 4 FLOP per head, dimension and pair of tokens.
func (m *Model) AttentionFLOP(cached, fresh float64) float64 {
	pairs := func(window float64) float64 { return seenUpTo(cached+fresh, window) - seenUpTo(cached, window) }
	all := float64(m.Layers)*pairs(math.Inf(1)) + float64(m.WindowedLayers)*pairs(float64(m.Window))
	return 4 * float64(m.Heads) * m.HeadDim * all
}

// seenUpTo counts the pairs of the first n tokens with those before them, within
// the window.
func seenUpTo(n, window float64) float64 {
	if n <= window {
		return n * n / 2
	}
	return window*n - window*window/2
}

// Assumptions says what is assumed about the model.
func (m *Model) Assumptions() string {
	bits := 16
	if m.KVBits > 0 {
		bits = m.KVBits
	}
	text := fmt.Sprintf("%s with %.4g B parameters, %s, %d-bit KV cache", m.Name, m.Params/1e9, m.Weights, bits)
	if m.Experts > 0 {
		least := m.WeightBytes - m.TableBytes - m.ExpertBytes*(1-float64(m.ExpertsPerToken)/float64(m.Experts))
		text += fmt.Sprintf(", experts chosen evenly (if all tokens chose the same: %.1f of %.1f GB)", least/1e9, (m.WeightBytes-m.TableBytes)/1e9)
	}
	return text + ", one token per step"
}
