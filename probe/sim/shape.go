package sim

import "math"

// shape is what the arithmetic needs to know about a model. Weights and KV
// cache are 16 bit unless bytesPerWeight says otherwise.
type shape struct {
	name           string
	params         float64 // all parameters
	activeParams   float64 // parameters that one token meets; equal to params for dense models
	inputEmbedding float64 // parameters of an input table of its own, of which a step reads only a few rows; 0 if tied to the output
	layers         int
	heads          int // query heads
	kvHeads        int
	headDim        int
	bytesPerWeight float64
	context        int // tokens the model was trained for
	moe            moe // zero for dense models
}

// moe describes routed experts.
type moe struct {
	experts      int     // per layer
	perToken     int     // chosen per layer by each token
	expertParams float64 // parameters of all routed experts of all layers
}

// Counts follow from the published configurations: vocabulary × hidden size for
// the tables, and for the routed experts of Qwen3-30B-A3B 48 layers × 128
// experts × 3 matrices × 2048 × 768.
var shapes = []shape{
	{name: "Llama-3.1-8B", params: 8.03e9, activeParams: 8.03e9, inputEmbedding: 128256 * 4096,
		layers: 32, heads: 32, kvHeads: 8, headDim: 128, bytesPerWeight: 2, context: 131072},
	{name: "Llama-3.1-70B", params: 70.55e9, activeParams: 70.55e9, inputEmbedding: 128256 * 8192,
		layers: 80, heads: 64, kvHeads: 8, headDim: 128, bytesPerWeight: 2, context: 131072},
	{name: "Llama-3.2-1B", params: 1.236e9, activeParams: 1.236e9, // tied tables
		layers: 16, heads: 32, kvHeads: 8, headDim: 64, bytesPerWeight: 2, context: 131072},
	{name: "Qwen2.5-0.5B", params: 0.494e9, activeParams: 0.494e9, // tied tables
		layers: 24, heads: 14, kvHeads: 2, headDim: 64, bytesPerWeight: 2, context: 32768},
	{name: "Qwen2.5-7B", params: 7.616e9, activeParams: 7.616e9, inputEmbedding: 152064 * 3584,
		layers: 28, heads: 28, kvHeads: 4, headDim: 128, bytesPerWeight: 2, context: 32768},
	{name: "Qwen3-30B-A3B", params: 30.53e9, activeParams: 3.35e9, inputEmbedding: 151936 * 2048,
		layers: 48, heads: 32, kvHeads: 4, headDim: 128, bytesPerWeight: 2, context: 40960,
		moe: moe{experts: 128, perToken: 8, expertParams: 48 * 128 * 3 * 2048 * 768}},
}

// Models lists the names that Options.Model understands.
func Models() []string { return names(shapes, shapeName) }

func shapeName(s shape) string { return s.name }

func shapeNamed(name string) (shape, error) { return lookup("model", name, shapes, shapeName) }

// kvBytesPerToken is 2 (K and V) × layers × KV heads × head dimension × 2 bytes.
func (s *shape) kvBytesPerToken() float64 {
	const bytesPerElement = 2
	return float64(2 * s.layers * s.kvHeads * s.headDim * bytesPerElement)
}

// weightBytes is what the weights occupy.
func (s *shape) weightBytes() float64 { return s.params * s.bytesPerWeight }

// weightReadBytes is what an iteration over n tokens reads of the weights. A
// dense model reads all of them once, whatever n is. Of routed experts it reads
// those that at least one token chose: with uniform routing E·(1−(1−k/E)ⁿ) of E.
func (s *shape) weightReadBytes(n int) float64 {
	read := s.params - s.inputEmbedding
	if s.moe.experts > 0 {
		untouched := math.Pow(1-float64(s.moe.perToken)/float64(s.moe.experts), float64(n))
		read -= s.moe.expertParams * untouched
	}
	return read * s.bytesPerWeight
}

func names[T any](all []T, nameOf func(T) string) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = nameOf(v)
	}
	return out
}
