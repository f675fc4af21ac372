package roofline

import (
	"cmp"
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

	Groups map[string]struct {
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

// unquantised is the bits of a weight that is not quantised.
const unquantised = 16

// weigh sets the bytes of the weights.
func (c modelConfig) weigh(m *Model, params perPart, onDisk float64) error {
	if c.Dtype != "bfloat16" && c.Dtype != "float16" {
		return fmt.Errorf("its dtype is %q, and which one an engine converts it to is unknown", c.Dtype)
	}
	var bits perPart // of a weight; 0: unquantised
	m.Weights = "16-bit weights"
	if q := c.Quant; q != nil {
		each, eight, err := q.format()
		if err != nil {
			return err
		}
		m.Weights, m.EightBit = fmt.Sprintf("%.3g-bit weights (%s)", each, q.Method), eight
		if err := q.quantise(&bits, each, onDisk > 0); err != nil {
			return err
		}
	}
	var bytes perPart
	for i := range bytes {
		bytes[i] = params[i] * cmp.Or(bits[i], unquantised) / 8
	}
	m.TableBytes, m.ExpertBytes, m.WeightBytes = bytes[inputTable], bytes[expertPart], bytes.total()
	if c.Quant != nil && onDisk > 0 {
		m.WeightBytes = onDisk
	}
	return nil
}

// quantise sets the bits of the parts that the method stores with that many; tables and
// routers stay as they are. Where the size on disk is known it does not matter which
// modules are skipped.
func (q *quantization) quantise(parts *perPart, bits float64, sizeKnown bool) error {
	parts[densePart], parts[expertPart], parts[attentionPart] = bits, bits, bits
	if q.Head {
		parts[outputTable] = bits
	}
	for _, module := range q.skipped() {
		switch part, known := partOf(module); {
		case known:
			parts[part] = 0
		case !sizeKnown:
			return fmt.Errorf("its quantization_config skips %q, whose size is unknown: put model.safetensors.index.json beside it", module)
		}
	}
	return nil
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

// partOf returns the part of the model that a skipped module belongs to. Tables,
// routers, norms and vision have 16 bits anyway.
func partOf(module string) (part int, known bool) {
	m := strings.ToLower(module)
	for _, small := range []string{"lm_head", "embed", "norm", "router", "vision", "visual", "multi_modal", "mm_"} {
		if strings.Contains(m, small) {
			return smallPart, true
		}
	}
	name := strings.TrimRight(m, "$*.")
	if strings.HasSuffix(name, "gate") && !strings.HasSuffix(m, "_gate") {
		return smallPart, true // a router; the gate of an MLP is a gate_proj
	}
	oneLayer := strings.ContainsFunc(m, unicode.IsDigit)
	return attentionPart, strings.HasSuffix(name, "attn") && !oneLayer
}
