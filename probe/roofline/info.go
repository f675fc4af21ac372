package roofline

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"sonde/probe/plain"
)

// ModelInfo is what an engine reports about the shape of the model that it serves.
// Zero is not reported.
type ModelInfo struct {
	Path         string `json:"path,omitempty"`         // what was loaded: a repository, or a path on the engine's machine
	Quantisation string `json:"quantisation,omitempty"` // in the engine's words: "Q4_K_M", "fp8"
	GPUs         int    `json:"gpus,omitempty"`         // that share the model (tensor parallel)

	Params      float64 `json:"params,omitempty"`
	WeightBytes float64 `json:"weight_bytes,omitempty"`

	Layers          int    `json:"layers,omitempty"`
	Heads           int    `json:"heads,omitempty"`
	KVHeads         int    `json:"kv_heads,omitempty"`
	HiddenSize      int    `json:"hidden_size,omitempty"`
	Vocabulary      int    `json:"vocabulary,omitempty"`
	KeyDim          int    `json:"key_dim,omitempty"` // of one head
	ValueDim        int    `json:"value_dim,omitempty"`
	Experts         int    `json:"experts,omitempty"`
	ExpertsPerToken int    `json:"experts_per_token,omitempty"`
	Irregular       string `json:"irregular,omitempty"` // key that shows the layers differ: "attention.sliding_window"
	Tied            bool   `json:"tied,omitempty"`      // one table serves input and output
	KVBits          int    `json:"kv_bits,omitempty"`   // of an element of the KV cache
}

// LocalFolder reports whether the engine loaded a folder of this machine: then
// Shape reads files, which may take long on a slow mount.
func (i ModelInfo) LocalFolder(local bool) bool { return local && filepath.IsAbs(i.Path) }

// Shape is the model that requests name by id: from the config.json that a local
// engine loaded, else from what the engine reports, else from the name.
func Shape(id string, info ModelInfo, local bool) (Model, error) {
	if info.LocalFolder(local) {
		if m, err := readModel(filepath.Join(info.Path, "config.json")); err == nil {
			return info.withKVBits(m), nil
		}
	}
	if info.Layers > 0 {
		m, err := info.shape(id)
		return info.withKVBits(m), err
	}
	m, err := info.byName(id)
	return info.withKVBits(info.withWeights(m)), err
}

// withKVBits applies the width of the KV cache's elements: a setting of the engine,
// not a property of the model.
func (i ModelInfo) withKVBits(m Model) Model {
	if i.KVBits == 0 {
		return m
	}
	return m.WithKVBits(i.KVBits)
}

// byName tries the name that was loaded first: the one that requests use may have
// been chosen freely.
func (i ModelInfo) byName(id string) (Model, error) {
	if i.Path != "" && i.Path != id {
		if m, err := ModelNamed(fileStem(i.Path, i.WeightBytes > 0)); err == nil {
			return m, nil
		}
	}
	if id == "" {
		return Model{}, errors.New("the model is unknown: name it with --roofline MODEL@GPU")
	}
	m, err := ModelNamed(fileStem(id, i.WeightBytes > 0))
	if err != nil {
		return m, fmt.Errorf("%w: name one of the same shape with --roofline MODEL@GPU", err)
	}
	return m, nil
}

// ggufName is the end of a file's name that says how its weights are quantised.
var ggufName = regexp.MustCompile(`(?i)([-.](i?q\d[a-z0-9_]*|f16|bf16|f32))?(\.gguf)?$`)

// fileStem removes the quantisation from a file's name where the size of the weights
// is known: then the quantisation does not matter.
func fileStem(name string, sizeKnown bool) string {
	if !sizeKnown {
		return name
	}
	return ggufName.ReplaceAllString(name, "")
}

// shape is a model whose layers are all alike, in numbers of the engine.
func (i ModelInfo) shape(name string) (Model, error) {
	switch {
	case i.Irregular != "":
		return Model{}, fmt.Errorf("the layers of %q differ (%s): name a model with --roofline MODEL@GPU", name, i.Irregular)
	case i.Experts > 0:
		return Model{}, fmt.Errorf("the engine does not report the size of the experts of %q: name a model with --roofline MODEL@GPU", name)
	case i.WeightBytes <= 0 || i.Params <= 0 || i.Heads <= 0 || i.HiddenSize <= 0:
		return Model{}, fmt.Errorf("the engine reports only part of the shape of %q: name a model with --roofline MODEL@GPU", name)
	}
	if i.KVHeads <= 0 {
		i.KVHeads = i.Heads
	}
	if i.KeyDim <= 0 {
		i.KeyDim = i.HiddenSize / i.Heads
	}
	if i.ValueDim <= 0 {
		i.ValueDim = i.KeyDim
	}
	if i.Tied {
		i.Vocabulary = 0 // the table is read as that of the output
	}
	return i.withWeights(Model{
		Name: name, Params: i.Params, ActiveParams: i.Params, Hidden: i.HiddenSize,
		TableBytes: float64(i.Vocabulary) * float64(i.HiddenSize) * i.WeightBytes / i.Params,
		Layers:     i.Layers, Heads: i.Heads, KVHeads: i.KVHeads, HeadDim: float64(i.KeyDim+i.ValueDim) / 2,
		KVLayerBytes: float64(i.KVHeads*(i.KeyDim+i.ValueDim)) * 2, // of 16 bits each
	}), nil
}

// withWeights takes the size that the engine reports instead of the computed one. The
// tables are assumed to be quantised like the rest.
func (i ModelInfo) withWeights(m Model) Model {
	if i.WeightBytes <= 0 || m.Params <= 0 {
		return m
	}
	if m.WeightBytes > 0 {
		m.TableBytes *= i.WeightBytes / m.WeightBytes
		m.ExpertBytes *= i.WeightBytes / m.WeightBytes
	}
	m.WeightBytes = i.WeightBytes
	m.EightBit = false // the precision of the arithmetic is not reported
	kind := strings.TrimSpace(plain.Line(i.Quantisation, 120) + " weights")
	m.Weights = fmt.Sprintf("%s of %.3g GB as the engine reports", kind, i.WeightBytes/1e9)
	return m
}
