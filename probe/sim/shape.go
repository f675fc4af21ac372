package sim

import (
	"cmp"
	"math"
)

// shape is what the arithmetic needs to know about a model.
type shape struct {
	name         string
	params       float64 // all parameters
	activeParams float64 // parameters that one token meets; equal to params for dense models
	layers       int
	hidden       int // width of what passes from layer to layer
	heads        int // query heads
	kvHeads      int
	headDim      int
	vocabulary   int
	tied         bool // one table serves input and output
	context      int  // tokens the model was trained for
	moe          moe  // zero for dense models

	weights dtype
	kv      kvDtype
}

// moe describes routed experts.
type moe struct {
	experts  int // per layer
	perToken int // chosen per layer by each token
	ffn      int // inner width of one
}

// The table of models, from their published configurations.
var shapes = []shape{
	{name: "Llama-3.1-8B", params: 8.03e9, layers: 32, hidden: 4096, heads: 32, kvHeads: 8, headDim: 128, vocabulary: 128256, context: 131072},
	{name: "Llama-3.1-70B", params: 70.55e9, layers: 80, hidden: 8192, heads: 64, kvHeads: 8, headDim: 128, vocabulary: 128256, context: 131072},
	{name: "Llama-3.2-1B", params: 1.236e9, layers: 16, hidden: 2048, heads: 32, kvHeads: 8, headDim: 64, vocabulary: 128256, tied: true, context: 131072},
	{name: "Qwen2.5-0.5B", params: 0.494e9, layers: 24, hidden: 896, heads: 14, kvHeads: 2, headDim: 64, vocabulary: 151936, tied: true, context: 32768},
	{name: "Qwen2.5-7B", params: 7.616e9, layers: 28, hidden: 3584, heads: 28, kvHeads: 4, headDim: 128, vocabulary: 152064, context: 32768},
	{name: "Qwen3-30B-A3B", params: 30.53e9, activeParams: 3.35e9, layers: 48, hidden: 2048, heads: 32, kvHeads: 4, headDim: 128, vocabulary: 151936,
		context: 40960, moe: moe{experts: 128, perToken: 8, ffn: 768}},
}

func shapeName(s shape) string { return s.name }

// shapeNamed finds a model of the table, with 16-bit weights and KV cache.
func shapeNamed(name string) (shape, error) {
	s, err := lookup("model", name, shapes, shapeName)
	s.activeParams = cmp.Or(s.activeParams, s.params)
	s.weights, s.kv = dtypes[0], kvDtypes[0]
	return s, err
}

// fullName tells how the weights are stored, too, the way published models do.
func (s *shape) fullName() string { return s.name + s.weights.suffix }

// kvBytesPerToken is 2 (K and V) × layers × KV heads × head dimension × bytes of an
// element.
func (s *shape) kvBytesPerToken() float64 {
	return float64(2*s.layers*s.kvHeads*s.headDim) * s.kv.bytes
}

// table is the parameters of one table of the vocabulary.
func (s *shape) table() float64 { return float64(s.vocabulary) * float64(s.hidden) }

// inputTable is the parameters of an input table of its own, of which a step reads
// only a few rows; 0 if the output's serves for it.
func (s *shape) inputTable() float64 {
	if s.tied {
		return 0
	}
	return s.table()
}

// linear is the parameters outside the tables, whose storage the dtype decides.
func (s *shape) linear() float64 { return s.params - s.table() - s.inputTable() }

// expertParams is the parameters of all routed experts of all layers: three
// matrices each.
func (s *shape) expertParams() float64 {
	return 3 * float64(s.layers*s.moe.experts) * float64(s.hidden*s.moe.ffn)
}

func (s *shape) bytesPerWeight() float64 { return s.weights.bits / 8 }

const bytesPerTableEntry = 2

// weightBytes is what the weights occupy.
func (s *shape) weightBytes() float64 {
	return s.linear()*s.bytesPerWeight() + (s.table()+s.inputTable())*bytesPerTableEntry
}

// weightReadBytes is what an iteration over n tokens reads of the weights. A
// dense model reads all of them once, whatever n is. Of routed experts it reads
// those that at least one token chose: with uniform routing E·(1−(1−k/E)ⁿ) of E.
func (s *shape) weightReadBytes(n int) float64 {
	read := s.linear()
	if s.moe.experts > 0 {
		untouched := math.Pow(1-float64(s.moe.perToken)/float64(s.moe.experts), float64(n))
		read -= s.expertParams() * untouched
	}
	return read*s.bytesPerWeight() + s.table()*bytesPerTableEntry
}
