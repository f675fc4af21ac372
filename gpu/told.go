package gpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Told is what an engine says about the shape of the model that it serves. Zero is
// not told.
type Told struct {
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
	Irregular       string `json:"irregular,omitempty"` // what makes the arithmetic of equal layers wrong
	Tied            bool   `json:"tied,omitempty"`      // one table serves input and output
	KVBits          int    `json:"kv_bits,omitempty"`   // of an element of the KV cache
}

// Seen is what a Roofline is made of where nobody named one.
type Seen struct {
	Model    string    // id that requests name
	Told     Told      // what the engine says about it
	Local    bool      // the engine's paths are those of this machine
	GPUs     []Reading // of the server
	Together bool      // they all share the model; else that is known of one GPU, or told
}

// model is the shape: from a config.json where the engine loaded it, as the engine
// tells it, else by name. Each of them alone is the truth about a part only.
func (s Seen) model() (Model, error) {
	if m, err := s.fromFiles(); err == nil {
		return m, nil
	}
	if s.Told.Layers > 0 {
		return s.Told.shape(s.Model)
	}
	m, err := s.byName()
	if err != nil {
		return m, err
	}
	return s.Told.weigh(m), nil
}

// cache takes the width of the KV cache's elements that the engine tells: it is a
// setting of the engine, not a part of the model.
func (t Told) cache(m Model) Model {
	if t.KVBits > 0 {
		m.KVLayerBytes *= float64(t.KVBits) / 16
		m.KVBits = t.KVBits
	}
	return m
}

// fromFiles reads the config.json of the folder that the engine loaded.
func (s Seen) fromFiles() (Model, error) {
	if !s.Local || !filepath.IsAbs(s.Told.Path) {
		return Model{}, errors.New("no folder of this machine")
	}
	path := filepath.Join(s.Told.Path, "config.json")
	if _, err := os.Stat(path); err != nil {
		return Model{}, err
	}
	return readModel(path)
}

// byName tries the name that was loaded first: the one that requests use may have
// been chosen freely.
func (s Seen) byName() (Model, error) {
	if s.Told.Path != "" && s.Told.Path != s.Model {
		if m, err := ModelNamed(fileStem(s.Told.Path, s.Told.WeightBytes > 0)); err == nil {
			return m, nil
		}
	}
	if s.Model == "" {
		return Model{}, errors.New("the model is not known: name it with --roofline MODEL@GPU")
	}
	m, err := ModelNamed(fileStem(s.Model, s.Told.WeightBytes > 0))
	if err != nil {
		return m, fmt.Errorf("%w: name its shape with --roofline MODEL@GPU", err)
	}
	return m, nil
}

// ggufName is the end of a file's name that says how its weights are quantised.
var ggufName = regexp.MustCompile(`(?i)([-.](i?q\d[a-z0-9_]*|f16|bf16|f32))?(\.gguf)?$`)

// fileStem takes the quantisation off a file's name, where the engine tells the size
// of the weights: then it does not matter.
func fileStem(name string, sizeKnown bool) string {
	if !sizeKnown {
		return name
	}
	return ggufName.ReplaceAllString(name, "")
}

// shape is a model whose layers are all alike, in numbers of the engine.
func (t Told) shape(name string) (Model, error) {
	switch {
	case t.Irregular != "":
		return Model{}, fmt.Errorf("the layers of %q are not alike (%s): name its shape with --roofline MODEL@GPU", name, t.Irregular)
	case t.Experts > 0:
		return Model{}, fmt.Errorf("the engine does not tell how large the experts of %q are: name its shape with --roofline MODEL@GPU", name)
	case t.WeightBytes <= 0 || t.Params <= 0 || t.Heads <= 0 || t.HiddenSize <= 0:
		return Model{}, fmt.Errorf("the engine tells only a part of the shape of %q: name it with --roofline MODEL@GPU", name)
	}
	if t.KVHeads <= 0 {
		t.KVHeads = t.Heads
	}
	if t.KeyDim <= 0 {
		t.KeyDim = t.HiddenSize / t.Heads
	}
	if t.ValueDim <= 0 {
		t.ValueDim = t.KeyDim
	}
	if t.Tied {
		t.Vocabulary = 0 // the table is read as that of the output
	}
	const bytesPerElement = 2
	return t.weigh(Model{
		Name: name, Params: t.Params, ActiveParams: t.Params,
		TableBytes: float64(t.Vocabulary) * float64(t.HiddenSize) * t.WeightBytes / t.Params,
		Layers:     t.Layers, Heads: t.Heads, KVHeads: t.KVHeads, HeadDim: float64(t.KeyDim+t.ValueDim) / 2,
		KVLayerBytes: float64(t.KVHeads*(t.KeyDim+t.ValueDim)) * bytesPerElement,
	}), nil
}

// weigh takes the bytes that the engine tells for those that were worked out. The
// tables are taken to be quantised like the rest.
func (t Told) weigh(m Model) Model {
	if t.WeightBytes <= 0 || m.Params <= 0 {
		return m
	}
	if m.WeightBytes > 0 {
		m.TableBytes *= t.WeightBytes / m.WeightBytes
		m.ExpertBytes *= t.WeightBytes / m.WeightBytes
	}
	m.WeightBytes = t.WeightBytes
	m.EightBit = false // what is computed with is not told
	kind := strings.TrimSpace(clean(t.Quantisation) + " weights")
	m.Weights = fmt.Sprintf("%s of %.3g GB as the engine tells", kind, t.WeightBytes/1e9)
	return m
}
