package roofline

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// knownModel is an open model with the keys of its published config.json.
type knownModel struct {
	Name   string      `json:"name"`
	Also   []string    `json:"also"` // further names of the same shape
	Config modelConfig `json:"config"`
}

//go:embed models.json
var modelsJSON []byte

// modelTable lists models by family, each family from small to large.
var modelTable = sync.OnceValue(func() (table []knownModel) {
	if err := json.Unmarshal(modelsJSON, &table); err != nil {
		panic("models.json: " + err.Error()) // embedded, and read by a test
	}
	return table
})

// ModelNames lists the names that ModelNamed knows.
func ModelNames() []string {
	var names []string
	for _, k := range modelTable() {
		names = append(names, k.Name)
	}
	return names
}

// ModelNamed looks up a model by its name or by an id such as
// "meta-llama/Llama-3.1-8B-Instruct". It ignores words that do not change the shape;
// any other word makes it another model.
func ModelNamed(id string) (Model, error) {
	name := id[strings.LastIndexByte(id, '/')+1:]
	words, weights, err := idWords(name)
	if err != nil {
		return Model{}, err
	}
	k, ok := knownNames()[words]
	if !ok {
		return Model{}, fmt.Errorf("unknown model %q", name)
	}
	if weights != nil && k.Config.Quant != nil {
		return Model{}, fmt.Errorf("the weights of %q are unknown: it is quantised differently from %s", name, k.Name)
	}
	return k.model(weights)
}

// stored are the formats of weights that a simulated engine serves: 4-bit ones have a
// 16-bit scale for each group of 128, as AWQ and GPTQ store them.
var stored = map[string]*quantization{
	"bf16": nil,
	"fp8":  {Method: "fp8"},
	"int4": {Method: "gptq", Bits: 4, Group: 128},
}

// ModelAs is a model of ModelNames with its weights stored as "bf16", "fp8" or "int4".
func ModelAs(name, dtype string) (Model, error) {
	words, _, _ := idWords(name)
	k, ok := knownNames()[words]
	if !ok {
		return Model{}, fmt.Errorf("unknown model %q", name)
	}
	weights, ok := stored[dtype]
	if !ok {
		return Model{}, fmt.Errorf("unknown dtype %q", dtype)
	}
	return k.model(weights)
}

// model is the shape with other weights than the published ones; nil keeps those.
func (k knownModel) model(weights *quantization) (Model, error) {
	c := k.Config
	c.Dtype = "bfloat16"
	if weights != nil {
		c.Quant = weights
	}
	return c.model(k.Name, 0)
}

// knownNames finds models by the words of their names.
var knownNames = sync.OnceValue(func() map[string]knownModel {
	byWords := map[string]knownModel{}
	for _, k := range modelTable() {
		for _, name := range append(k.Also, k.Name) {
			words, _, _ := idWords(name) // plain names: no quantisation in them
			byWords[words] = k
		}
	}
	return byWords
})

var (
	wordBreak = regexp.MustCompile(`[-_\s]+`)
	dateWord  = regexp.MustCompile(`^\d{4}$`) // a release, as in DeepSeek-V3-0324
)

// sameShape are words of ids that say how a model was trained, not which shape it has.
var sameShape = map[string]bool{
	"meta": true, "instruct": true, "chat": true, "it": true, "hf": true, "base": true, "thinking": true,
	"coder": true, "math": true, "bf16": true, "fp16": true,
}

// inName are the quantisations that ids name. Ids do not show the group size; without
// it the bytes are the least possible.
var inName = map[string]*quantization{
	"fp8":   {Method: "fp8"},
	"awq":   {Method: "awq", Bits: 4},
	"int4":  {Method: "gptq", Bits: 4},
	"w4a16": {Method: "gptq", Bits: 4},
}

// besideIt are words that say nothing new beside a quantisation that the id names.
var besideIt = map[string]bool{"gptq": true, "dynamic": true, "quantized": true}

// idWords returns the words of an id that identify the model, and how its weights are
// quantised if the id says so.
func idWords(name string) (words string, weights *quantization, err error) {
	if strings.Contains(name, ":") || strings.Contains(strings.ToLower(name), "gguf") {
		return "", nil, fmt.Errorf("unknown quantisation of the weights of %q", name)
	}
	all := wordBreak.Split(strings.ToLower(strings.TrimSpace(name)), -1)
	for _, w := range all {
		if q := inName[w]; q != nil {
			weights = q
		}
	}
	kept := slices.DeleteFunc(all, func(w string) bool {
		return sameShape[w] || dateWord.MatchString(w) || weights != nil && (inName[w] != nil || besideIt[w])
	})
	return strings.Join(kept, " "), weights, nil
}
