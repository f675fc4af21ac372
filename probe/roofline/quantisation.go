package roofline

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// quantization are the keys of a quantization_config, of all its methods.
type quantization struct {
	Method    string `json:"quant_method"`
	Bits      int    `json:"bits"`
	Group     int    `json:"group_size"`
	Head      bool   `json:"lm_head"` // the output table is quantised, too
	In8Bit    bool   `json:"load_in_8bit"`
	In4Bit    bool   `json:"load_in_4bit"`
	Unchanged any    `json:"modules_to_not_convert"` // texts; each method has its own key
	Skipped   any    `json:"llm_int8_skip_modules"`
	Ignored   any    `json:"ignore"`
	Groups    map[string]struct {
		Weights *operand `json:"weights"`
		Input   *operand `json:"input_activations"`
	} `json:"config_groups"`
}

// operand is one side of a product in a group of compressed-tensors.
type operand struct {
	Bits  int    `json:"num_bits"`
	Type  string `json:"type"` // "int" or "float"
	Group int    `json:"group_size"`
}

// storage is how many bits the parts of a model take per weight.
type storage struct {
	linear, experts, output float64
	attention               float64
	eightBit                bool // operands of the products have 8 bits
	name                    string
}

const unquantised = 16

// weigh sets the bytes of the weights. Tables and routers stay at 16 bits.
func (c modelConfig) weigh(m *Model, p parts, onDisk float64) error {
	if dtype := strings.TrimPrefix(c.dtype(), "torch."); dtype != "bfloat16" && dtype != "float16" {
		return fmt.Errorf("its dtype is %q, and which one an engine converts it to is unknown", dtype)
	}
	s := storage{linear: unquantised, experts: unquantised, output: unquantised, attention: unquantised, name: "16-bit weights"}
	if c.Quant != nil {
		var err error
		if s, err = c.Quant.storage(onDisk > 0); err != nil {
			return err
		}
	}
	bytes := func(params, bits float64) float64 { return params * bits / 8 }
	m.Weights, m.EightBit = s.name, s.eightBit
	m.TableBytes = bytes(p.input, unquantised)
	m.ExpertBytes = bytes(p.experts, s.experts)
	m.WeightBytes = m.TableBytes + m.ExpertBytes + bytes(p.output, s.output) +
		bytes(p.attention, s.attention) + bytes(p.dense, s.linear) + bytes(p.small, unquantised)
	if c.Quant != nil && onDisk > 0 {
		m.WeightBytes = onDisk
	}
	return nil
}

// storage returns how the method stores each part. Where the size on disk is known it
// does not matter which modules are skipped.
func (q *quantization) storage(sizeKnown bool) (storage, error) {
	bits, eight, err := q.format()
	if err != nil {
		return storage{}, err
	}
	s := storage{linear: bits, experts: bits, attention: bits, output: unquantised, eightBit: eight, name: fmt.Sprintf("%.3g-bit weights (%s)", bits, q.Method)}
	if q.Head {
		s.output = bits
	}
	for _, module := range q.skipped() {
		switch part := partOf(module); {
		case part == allAttention:
			s.attention = unquantised
		case part == unknownPart && !sizeKnown:
			return storage{}, fmt.Errorf("its quantization_config skips %q, whose size is unknown: put model.safetensors.index.json beside it", module)
		}
	}
	return s, nil
}

// format returns the bits of a quantised weight, including its share of the group's
// scale, and whether the other operand is quantised, too.
func (q *quantization) format() (bits float64, eight bool, err error) {
	switch q.Method {
	case "gptq", "awq":
		if q.Bits <= 0 {
			return 0, false, errors.New("its quantization_config has no bits")
		}
		return withScales(q.Bits, q.Group), false, nil
	case "fp8":
		return 8, true, nil
	case "mxfp4": // 4 bits, and a scale of 8 for each 32
		return 4.25, false, nil
	case "bitsandbytes":
		switch {
		case q.In4Bit:
			return 4, false, nil
		case q.In8Bit:
			return 8, false, nil
		}
	case "compressed-tensors":
		return q.compressed()
	}
	return 0, false, fmt.Errorf("unknown quant_method %q", q.Method)
}

func (q *quantization) compressed() (bits float64, eight bool, err error) {
	if len(q.Groups) != 1 {
		return 0, false, fmt.Errorf("its quantization_config has %d config_groups, and which weights belong to which is unknown", len(q.Groups))
	}
	for _, g := range q.Groups {
		switch {
		case g.Weights == nil || g.Weights.Bits <= 0:
			return 0, false, errors.New("its config_groups do not say how many bits a weight has")
		case g.Input == nil:
			return withScales(g.Weights.Bits, g.Weights.Group), false, nil
		case g.Weights.Bits == 8 && g.Input.Bits == 8 && g.Input.Type == "float":
			return 8, true, nil
		}
		return 0, false, fmt.Errorf("the peak for products of %d-bit %s operands is unknown", g.Input.Bits, g.Input.Type)
	}
	return 0, false, nil // not reached: there is one group
}

// withScales adds a scale of 16 bits for each group of weights. Zero points are
// not counted: not every format has them.
func withScales(bits, group int) float64 {
	if group <= 0 {
		return float64(bits)
	}
	return float64(bits) + 16/float64(group)
}

// skipped lists the modules that are not quantised.
func (q *quantization) skipped() []string {
	var all []string
	for _, list := range []any{q.Unchanged, q.Skipped, q.Ignored} {
		entries, _ := list.([]any)
		for _, e := range entries {
			if module, ok := e.(string); ok {
				all = append(all, module)
			}
		}
	}
	return all
}

// part is a part of a model that quantisation skips.
type part int

const (
	unknownPart     part = iota
	unquantisedPart      // tables, routers, norms, vision: 16 bits anyway
	allAttention         // of all layers
)

// partOf returns the part of the model that a skipped module belongs to.
func partOf(module string) part {
	m := strings.ToLower(module)
	for _, small := range []string{"lm_head", "embed", "norm", "router", "vision", "visual", "multi_modal", "mm_"} {
		if strings.Contains(m, small) {
			return unquantisedPart
		}
	}
	if strings.HasSuffix(strings.TrimRight(m, "$*."), "gate") && !strings.HasSuffix(m, "_gate") {
		return unquantisedPart // a router; the gate of an MLP is a gate_proj
	}
	oneLayer := strings.ContainsFunc(m, unicode.IsDigit)
	if strings.HasSuffix(strings.TrimRight(m, "$*."), "attn") && !oneLayer {
		return allAttention
	}
	return unknownPart
}
