package roofline

import "testing"

func TestKVBytesPerToken(t *testing.T) {
	for name, want := range map[string]float64{
		"Llama-3.1-8B": 131072, "Llama-3.1-70B": 327680, "Qwen2.5-7B": 57344, "Qwen3-30B-A3B": 98304, "gpt-oss-120b": 73728, "DeepSeek-V3": 70272,
	} {
		m := named(t, name)
		if got := m.KVBytesPerToken(); got != want {
			t.Errorf("%s: %g bytes, want %g", name, got, want)
		}
	}
}

// The counts follow from shapes; those that the makers publish have to come out.
func TestParametersArePublishedOnes(t *testing.T) {
	published := map[string]struct{ total, active float64 }{ // 1e9; active 0: a dense model
		"Llama-2-7B": {6.738, 0}, "Llama-2-13B": {13.016, 0}, "Llama-3.2-1B": {1.236, 0}, "Llama-3.2-3B": {3.213, 0},
		"Llama-3.1-8B": {8.030, 0}, "Llama-3.1-70B": {70.55, 0}, "Llama-3.1-405B": {405.9, 0},
		"Mistral-7B-v0.3": {7.248, 0}, "Mixtral-8x7B-v0.1": {46.70, 12.88}, "Phi-4": {14.66, 0},
		"Qwen2.5-0.5B": {0.494, 0}, "Qwen2.5-1.5B": {1.544, 0}, "Qwen2.5-3B": {3.086, 0}, "Qwen2.5-7B": {7.616, 0},
		"Qwen2.5-14B": {14.77, 0}, "Qwen2.5-32B": {32.76, 0}, "Qwen2.5-72B": {72.71, 0},
		"Qwen3-0.6B": {0.596, 0}, "Qwen3-1.7B": {1.721, 0}, "Qwen3-4B": {4.022, 0}, "Qwen3-8B": {8.191, 0},
		"Qwen3-14B": {14.77, 0}, "Qwen3-32B": {32.76, 0}, "Qwen3-30B-A3B": {30.53, 3.35}, "Qwen3-235B-A22B": {235.1, 22.2},
		// OpenAI counts 3.6 and 5.1 active: the input table is not among them.
		"gpt-oss-20b": {20.91, 3.61 + 0.58}, "gpt-oss-120b": {116.8, 5.13 + 0.58}, "DeepSeek-V3": {671.0, 37.5},
	}
	for _, name := range ModelNames() {
		want, known := published[name]
		if !known {
			t.Errorf("%s has no published count here", name)
			continue
		}
		if want.active == 0 {
			want.active = want.total
		}
		m := named(t, name)
		for _, c := range []struct {
			what      string
			got, want float64
		}{{"all", m.Params / 1e9, want.total}, {"active", m.ActiveParams / 1e9, want.active}} {
			if c.got < 0.995*c.want || c.got > 1.005*c.want {
				t.Errorf("%s, %s: %.4g B, want %.4g B", name, c.what, c.got, c.want)
			}
		}
	}
}

func TestWeightBytes(t *testing.T) {
	for name, want := range map[string]float64{
		"Llama-3.1-8B":              16.06e9,
		"Llama-3.1-8B-Instruct-FP8": 9.08e9,    // 6.98e9 at 1 byte, two tables of 0.525e9 at 2
		"Llama-3.1-8B-AWQ":          5.59e9,    // the same at half a byte
		"gpt-oss-120b":              65.15e9,   // 114.66e9 in experts at 4.25 bit, 2.13e9 at 16
		"DeepSeek-V3":               672.98e9,  // 671.03e9, and another byte for two tables of 0.927e9 and the routers
		"Qwen2.5-72B-GPTQ-Int4":     40.097e9,  // 70.21e9 at half a byte, two tables of 1.2457e9
		"Qwen3-30B-A3B-FP8-dynamic": 31.1675e9, // 30.532e9, and another byte for two tables of 0.311e9 and the routers
	} {
		m := named(t, name)
		about(t, name, m.WeightBytes, want)
	}
}

func TestLooseIds(t *testing.T) {
	for id, want := range map[string]string{
		"meta-llama/Llama-3.1-8B-Instruct":           "Llama-3.1-8B",
		"meta-llama/Meta-Llama-3-8B":                 "Llama-3.1-8B",
		"sim/Llama-3.1-8B":                           "Llama-3.1-8B",
		"Llama-3.3-70B-Instruct":                     "Llama-3.1-70B",
		"/models/llama_3.1_8b_instruct":              "Llama-3.1-8B",
		"Qwen/Qwen2.5-Coder-7B-Instruct":             "Qwen2.5-7B",
		"Qwen/Qwen3-235B-A22B-Instruct-2507":         "Qwen3-235B-A22B",
		"mistralai/Mistral-7B-Instruct-v0.3":         "Mistral-7B-v0.3",
		"deepseek-ai/DeepSeek-R1-0528":               "DeepSeek-V3",
		"deepseek-ai/DeepSeek-R1-Distill-Llama-8B":   "Llama-3.1-8B",
		"openai/gpt-oss-20b":                         "gpt-oss-20b",
		"RedHatAI/Qwen2.5-7B-Instruct-quantized.w4a": "",
		"Qwen/Qwen2.5-VL-7B-Instruct":                "",
		"mistralai/Mistral-7B-Instruct-v0.1":         "", // it has a window
		"Qwen2.5-7B-Instruct-GPTQ":                   "", // of how many bits
		"Qwen2.5-7B-Instruct-GPTQ-Int8":              "",
		"llama3.1:8b":                                "", // four bits or so
		"qwen2.5-7b-instruct-q4_k_m.gguf":            "",
		"openai/gpt-oss-20b-fp8":                     "",
		"gpt-4o":                                     "",
		"instruct":                                   "",
		"":                                           "",
	} {
		if m, err := ModelNamed(id); m.Name != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", id, m.Name, err, want)
		}
	}
}

func TestModelsAsASimulatedEngineStoresThem(t *testing.T) {
	for dtype, want := range map[string]float64{
		"bf16": 16.06e9,
		"fp8":  9.08e9,                  // 6.98e9 at 1 byte, two tables of 0.525e9 at 2
		"int4": 5.59e9 + 6.98e9/128*2.0, // half a byte, and 2 bytes for each 128
	} {
		m, err := ModelAs("Llama-3.1-8B", dtype)
		if err != nil || m.EightBit != (dtype == "fp8") {
			t.Errorf("%s: %v, %+v", dtype, err, m)
		}
		about(t, dtype, m.WeightBytes, want)
	}
	for _, c := range [][2]string{{"Llama-9", "bf16"}, {"Llama-3.1-8B", "int3"}} {
		if _, err := ModelAs(c[0], c[1]); err == nil {
			t.Error(c)
		}
	}
}
