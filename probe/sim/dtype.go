package sim

// dtype is how weights are stored, and what their products are computed in. Tables,
// routers and norms stay at 16 bits, as in published checkpoints.
type dtype struct {
	name     string
	suffix   string  // of a model's name
	bits     float64 // of a weight of a linear layer, its share of the scales included
	eightBit bool    // products take 8-bit operands where the GPU has them; else weights are widened first
}

var dtypes = []dtype{
	{name: "bf16", bits: 16},
	{name: "fp8", suffix: "-FP8", bits: 8, eightBit: true},
	// Weights alone, as AWQ and GPTQ store them: a 16-bit scale for each group of 128.
	{name: "int4", suffix: "-INT4", bits: 4 + 16.0/128},
}

// kvDtype is how an element of the KV cache is stored. Attention is computed at 16
// bits in any case.
type kvDtype struct {
	name  string // as the engine's metrics call it
	bytes float64
}

var kvDtypes = []kvDtype{{"auto", 2}, {"fp8", 1}} // auto: as wide as the model's activations

func dtypeNamed(name string) (dtype, error) {
	return lookup("dtype", name, dtypes, func(d dtype) string { return d.name })
}

func kvDtypeNamed(name string) (kvDtype, error) {
	return lookup("dtype of the KV cache", name, kvDtypes, func(d kvDtype) string { return d.name })
}
