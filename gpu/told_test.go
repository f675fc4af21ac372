package gpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/probe/opt"
)

// toldQwen is what Ollama says about a Qwen2.5-7B in 4 bits.
var toldQwen = Told{
	Quantisation: "Q4_K_M", Params: 7615616512, WeightBytes: 4683087332,
	Layers: 28, Heads: 28, KVHeads: 4, HiddenSize: 3584, Vocabulary: 152064,
}

// 28 layers × 2 × 4 heads × 128 × 2 bytes are 57344 bytes of KV a token. The input
// table has 152064 × 3584 of 7615616512 weights, 335.1 of 4683.1 MB. What is left
// takes 14.493 ms at the 300 GB/s of an L4, and 14.684 ms with 1000 tokens of KV.
func TestShapeThatTheEngineTells(t *testing.T) {
	r, err := FindRoofline(Seen{Model: "my-own:7b", Told: toldQwen, GPUs: []Reading{{Name: "NVIDIA L4"}}})
	if err != nil {
		t.Fatal(err)
	}
	about(t, "KV a token", r.Model.KVBytesPerToken(), 57344)
	about(t, "without context", floorMS(r.TPOTFloor(1, 0)), 14.493)
	about(t, "with context", floorMS(r.TPOTFloor(1, 1000)), 14.684)
	if a := r.Assumptions(); !strings.HasPrefix(a, "my-own:7b with 7.616 B parameters, Q4_K_M weights of 4.68 GB as the engine tells, 16-bit KV cache") {
		t.Error(a)
	}
}

// With one table for input and output all 4683.1 MB are read: 15.610 ms. In 8 bits
// the cache is half as large: 28672 bytes a token, of which 1000 take 0.096 ms.
func TestTiedTablesAndNarrowCacheThatTheEngineTells(t *testing.T) {
	told := toldQwen
	told.Tied, told.KVBits = true, 8
	r, err := FindRoofline(Seen{Model: "m", Told: told, GPUs: []Reading{{Name: "NVIDIA L4"}}})
	if err != nil {
		t.Fatal(err)
	}
	about(t, "KV a token", r.Model.KVBytesPerToken(), 28672)
	about(t, "floor", floorMS(r.TPOTFloor(1, 1000)), 15.610+0.0956)
	if a := r.Assumptions(); !strings.Contains(a, ", 8-bit KV cache") {
		t.Error(a)
	}
}

func TestShapeThatTheEngineTellsInPartIsNone(t *testing.T) {
	for want, change := range map[string]func(*Told){
		"are not alike (attention.sliding_window)": func(t *Told) { t.Irregular = "attention.sliding_window" },
		"how large the experts":                    func(t *Told) { t.Experts, t.ExpertsPerToken = 128, 8 },
		"only a part of the shape":                 func(t *Told) { t.WeightBytes = 0 },
	} {
		told := toldQwen
		change(&told)
		_, err := FindRoofline(Seen{Model: "my-own:7b", Told: told, GPUs: []Reading{{Name: "NVIDIA L4"}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--roofline MODEL@GPU") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// llama.cpp tells the size of the file; the shape follows from its name, which ends
// in the quantisation. 152064 × 3584 × 2 bytes are the table of 15.23 GB at 16 bits.
func TestSizeThatTheEngineTellsForAShapeByName(t *testing.T) {
	for _, id := range []string{"qwen2.5-7b-instruct-q4_k_m.gguf", "Qwen2.5-7B-Instruct-IQ4_XS", "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "Qwen2.5-7B-Instruct.gguf"} {
		r, err := FindRoofline(Seen{Model: id, Told: Told{WeightBytes: 4683087332}, GPUs: []Reading{{Name: "NVIDIA L4"}}})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		about(t, "KV a token", r.Model.KVBytesPerToken(), 57344)
		about(t, id, floorMS(r.TPOTFloor(1, 0)), 14.493)
	}
	if _, err := FindRoofline(Seen{Model: "qwen2.5-7b-q4_k_m.gguf", GPUs: []Reading{{Name: "NVIDIA L4"}}}); err == nil {
		t.Error("quantised weights of an unknown size")
	}
}

// The id is free, what was loaded is not; two of four GPUs share it.
func TestPathAndGroupThatTheEngineTells(t *testing.T) {
	h100 := Reading{Name: "NVIDIA H100 80GB HBM3"}
	four := []Reading{h100, h100, h100, h100}
	s := Seen{Model: "prod", Told: Told{Path: "meta-llama/Llama-3.1-70B-Instruct", GPUs: 2}, GPUs: four}
	r, err := FindRoofline(s)
	if err != nil || r.Model.Name != "Llama-3.1-70B" || r.GPUs != 2 {
		t.Errorf("%s on %d, %v", r.Model.Name, r.GPUs, err)
	}
	s.Told.GPUs = 8
	if _, err := FindRoofline(s); err == nil || !strings.Contains(err.Error(), "on 8 GPUs, of which 4 can be seen") {
		t.Error(err)
	}
	s.Told = Told{Path: "/data/prod"}
	if _, err := FindRoofline(s); err == nil || !strings.Contains(err.Error(), `no model "prod" is known`) {
		t.Error(err)
	}
}

func TestConfigOfTheFolderThatALocalEngineLoaded(t *testing.T) {
	dir := filepath.Dir(configFile(t, `{`+tinyLlama+`}`))
	seen := Seen{Model: "tiny", Told: Told{Path: dir}, Local: true, GPUs: []Reading{{Name: "NVIDIA L4"}}}
	if r, err := FindRoofline(seen); err != nil || r.Model.Name != "m" {
		t.Errorf("%s, %v", r.Model.Name, err)
	}
	seen.Local = false // the same path on another machine is another folder
	if _, err := FindRoofline(seen); err == nil {
		t.Error("a path of another machine was read here")
	}
	if err := os.Remove(filepath.Join(dir, "config.json")); err != nil {
		t.Fatal(err)
	}
	seen.Local = true
	if _, err := FindRoofline(seen); err == nil {
		t.Error("a folder without config.json")
	}
}

func TestMIGInstanceHasItsShareOfThePeaks(t *testing.T) {
	// 3 of 7 slices of 989 TFLOP/s, 40 of 80 GB of 3350 GB/s
	p, ok := (&Reading{Parent: "GPU-a", Name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb", BandwidthPeak: opt.Float{}}).Peaks()
	about(t, "FLOP/s", p.BF16, 423.857e12)
	if !ok || p.Bandwidth != 1675e9 || !p.Approximate {
		t.Errorf("%+v", p)
	}
}
