package core

import (
	"cmp"
	"fmt"
	"strings"

	"sonde/probe/roofline"
)

// Model is what is served: the shape of a published model with weights and KV cache of
// one format each.
type Model struct {
	roofline.Model
	FullName string // with the format of the weights, as published models are named
	context  int    // tokens that it was trained for
}

// The models that can be served, with the tokens that each was trained for.
var models = []named[int]{
	{"Llama-3.1-8B", 131072}, {"Llama-3.1-70B", 131072}, {"Llama-3.2-1B", 131072},
	{"Qwen2.5-0.5B", 32768}, {"Qwen2.5-7B", 32768}, {"Qwen3-30B-A3B", 40960},
}

// The formats of weights, with the suffix of a model's name. Products with fp8 weights
// take 8-bit operands where the GPU has them; int4 weights are widened first. Tables,
// routers and norms stay at 16 bits, as in published checkpoints.
var dtypes = []named[string]{{"bf16", ""}, {"fp8", "-FP8"}, {"int4", "-INT4"}}

// The formats of the KV cache under the names of vLLM's metrics, with the bits of an
// element. Attention is computed at 16 bits in any case.
var kvDtypes = []named[int]{{"auto", 16}, {"fp8", 8}} // auto: as wide as the model's activations

// modelNamed finds the model with weights and KV cache of those formats.
func modelNamed(name, dtype, kvDtype string) (Model, error) {
	served, noModel := lookup("model", name, models)
	weights, noWeights := lookup("dtype", dtype, dtypes)
	kv, noKV := lookup("dtype of the KV cache", kvDtype, kvDtypes)
	if err := cmp.Or(noModel, noWeights, noKV); err != nil {
		return Model{}, err
	}
	m, err := roofline.ModelAs(served.name, weights.name)
	return Model{m.WithKVBits(kv.value), served.name + weights.value, served.value}, err
}

// named is an entry of a table that users choose from.
type named[T any] struct {
	name  string
	value T
}

// lookup finds an entry by name in any letter case.
func lookup[T any](what, name string, all []named[T]) (named[T], error) {
	var known []string
	for _, v := range all {
		if strings.EqualFold(v.name, name) {
			return v, nil
		}
		known = append(known, v.name)
	}
	return named[T]{}, fmt.Errorf("simulated engine: unknown %s %q; known: %s", what, name, strings.Join(known, ", "))
}
