package roofline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var l4 = []GPU{{Name: "NVIDIA L4"}}

// reportedQwen is what Ollama reports about a Qwen2.5-7B in 4 bits.
var reportedQwen = ModelInfo{
	Quantisation: "Q4_K_M", Params: 7615616512, WeightBytes: 4683087332,
	Layers: 28, Heads: 28, KVHeads: 4, HiddenSize: 3584, Vocabulary: 152064,
}

// 28 layers × 2 × 4 heads × 128 × 2 bytes are 57344 bytes of KV a token. The input
// table has 152064 × 3584 of 7615616512 weights, 335.1 of 4683.1 MB. What is left
// takes 14.493 ms at the 300 GB/s of an L4, and 14.684 ms with 1000 tokens of KV.
func TestShapeThatTheEngineReports(t *testing.T) {
	r, err := find("my-own:7b", reportedQwen, false, l4, false)
	if err != nil {
		t.Fatal(err)
	}
	about(t, "KV a token", r.Model.KVBytesPerToken(), 57344)
	about(t, "without context", r.TPOTFloor(1, 0), 14.493)
	about(t, "with context", r.TPOTFloor(1, 1000), 14.684)
	if a := r.Assumptions(); !strings.HasPrefix(a, "my-own:7b with 7.616 B parameters, Q4_K_M weights of 4.68 GB as the engine reports, 16-bit KV cache") {
		t.Error(a)
	}
}

// With one table for input and output all 4683.1 MB are read: 15.610 ms. In 8 bits
// the cache is half as large: 28672 bytes a token, of which 1000 take 0.096 ms.
func TestTiedTablesAndNarrowCacheThatTheEngineReports(t *testing.T) {
	info := reportedQwen
	info.Tied, info.KVBits = true, 8
	r, err := find("m", info, false, l4, false)
	if err != nil {
		t.Fatal(err)
	}
	about(t, "KV a token", r.Model.KVBytesPerToken(), 28672)
	about(t, "floor", r.TPOTFloor(1, 1000), 15.610+0.0956)
	if a := r.Assumptions(); !strings.Contains(a, ", 8-bit KV cache") {
		t.Error(a)
	}
}

func TestPartOfAShapeIsNotEnough(t *testing.T) {
	for want, change := range map[string]func(*ModelInfo){
		"differ (attention.sliding_window)": func(t *ModelInfo) { t.Irregular = "attention.sliding_window" },
		"the size of the experts":           func(t *ModelInfo) { t.Experts, t.ExpertsPerToken = 128, 8 },
		"only part of the shape":            func(t *ModelInfo) { t.WeightBytes = 0 },
	} {
		info := reportedQwen
		change(&info)
		_, err := find("my-own:7b", info, false, l4, false)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--roofline MODEL@GPU") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// llama.cpp reports the size of the file; the shape follows from its name, which ends
// in the quantisation. 152064 × 3584 × 2 bytes are the table of 15.23 GB at 16 bits.
func TestSizeThatTheEngineReportsForAShapeByName(t *testing.T) {
	for _, id := range []string{"qwen2.5-7b-instruct-q4_k_m.gguf", "Qwen2.5-7B-Instruct-IQ4_XS", "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "Qwen2.5-7B-Instruct.gguf"} {
		r, err := find(id, ModelInfo{WeightBytes: 4683087332}, false, l4, false)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		about(t, "KV a token", r.Model.KVBytesPerToken(), 57344)
		about(t, id, r.TPOTFloor(1, 0), 14.493)
	}
	if _, err := find("qwen2.5-7b-q4_k_m.gguf", ModelInfo{}, false, l4, false); err == nil {
		t.Error("quantised weights of an unknown size")
	}
}

// The id is free, what was loaded is not; two of four GPUs share it.
func TestPathAndGroupThatTheEngineReports(t *testing.T) {
	h100 := GPU{Name: "NVIDIA H100 80GB HBM3"}
	four := []GPU{h100, h100, h100, h100}
	info := ModelInfo{Path: "meta-llama/Llama-3.1-70B-Instruct", GPUs: 2}
	r, err := find("prod", info, false, four, false)
	if err != nil || r.Model.Name != "Llama-3.1-70B" || r.GPUs != 2 {
		t.Errorf("%s on %d, %v", r.Model.Name, r.GPUs, err)
	}
	info.GPUs = 8
	if _, err := find("prod", info, false, four, false); err == nil || !strings.Contains(err.Error(), "uses 8 GPUs, of which 4 are visible") {
		t.Error(err)
	}
	info = ModelInfo{Path: "/data/prod"}
	if _, err := find("prod", info, false, four, false); err == nil || !strings.Contains(err.Error(), `unknown model "prod"`) {
		t.Error(err)
	}
}

func TestConfigOfTheFolderThatALocalEngineLoaded(t *testing.T) {
	dir := filepath.Dir(configFile(t, `{`+tinyLlama+`}`))
	info := ModelInfo{Path: dir}
	if r, err := find("tiny", info, true, l4, false); err != nil || r.Model.Name != "m" {
		t.Errorf("%s, %v", r.Model.Name, err)
	}
	// The same path on another machine is another folder.
	if _, err := find("tiny", info, false, l4, false); err == nil {
		t.Error("a path of another machine was read here")
	}
	if err := os.Remove(filepath.Join(dir, "config.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := find("tiny", info, true, l4, false); err == nil {
		t.Error("a folder without config.json")
	}
}

func TestMIGInstanceHasItsShareOfThePeaks(t *testing.T) {
	// 3 of 7 slices of 989 TFLOP/s, 40 of 80 GB of 3350 GB/s
	p, ok := GPU{Name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb"}.Peaks()
	about(t, "FLOP/s", p.BF16, 423.857e12)
	if !ok || p.Bandwidth != 1675e9 || !p.Approximate {
		t.Errorf("%+v", p)
	}
}
