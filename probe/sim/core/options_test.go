package core

import (
	"strings"
	"testing"
)

func TestDefaultsResolve(t *testing.T) {
	for _, o := range []Options{{}, Options{}.withDefaults()} {
		s, err := o.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		if s.KVBlocks != 2048 || s.MaxModelLen != 16384 || s.MaxSeqs != 128 || s.TokenBudget != 2048 || s.Unchunked || s.NoPrefixCache {
			t.Errorf("%+v resolves to %+v", o, s)
		}
	}
}

func TestKVAndModelLength(t *testing.T) {
	s, err := Options{KVGB: 1}.Resolve() // 1e9 / (16 × 131072) = 476 blocks
	if err != nil || s.KVBlocks != 476 || s.MaxModelLen != 7616 {
		t.Errorf("1 GB: %d blocks, model length %d, %v; want 476, 7616", s.KVBlocks, s.MaxModelLen, err)
	}
}

func TestModelIsSpreadOverEnoughGPUs(t *testing.T) {
	s, err := Options{Model: "llama-3.1-70b", GPU: "h100"}.Resolve() // 141 GB + 10.7 GB > 0.9 × 160
	if err != nil || s.Machine.GPUs != 4 {
		t.Fatalf("%d GPUs, %v; want 4", s.Machine.GPUs, err)
	}
	if s.Machine.Peaks.BF16 != 4*989e12 || s.Machine.Peaks.Bandwidth != 4*3350e9 {
		t.Errorf("four H100 have %g FLOP/s and %g B/s", s.Machine.Peaks.BF16, s.Machine.Peaks.Bandwidth)
	}
}

func TestEveryModelRunsOnEveryGPU(t *testing.T) {
	for _, model := range models {
		for _, gpu := range boards {
			if _, err := (Options{Model: model.name, GPU: gpu.name}).Resolve(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDescribeNamesBothHalves(t *testing.T) {
	for says, o := range map[string]Options{
		"Llama-3.1-8B on 1 × A100-SXM4-80GB, KV cache 32768 tokens, context 16384 tokens":                                  {},
		"Llama-3.1-8B-FP8 on 2 × H100 80GB HBM3 for decode and 2 for prefill, KV cache 32768 tokens, context 16384 tokens": {GPU: "h100", Dtype: "fp8", TP: 2, Disaggregated: true},
	} {
		s, err := o.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Describe(); got != says {
			t.Errorf("described as %q, want %q", got, says)
		}
	}
}

func TestWrongOptionsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says []string
	}{
		{Options{Model: "gpt-9"}, []string{`"gpt-9"`, "Llama-3.1-8B", "Qwen3-30B-A3B"}},
		{Options{GPU: "abacus"}, []string{`"abacus"`, "A100-80GB", "H100"}},
		{Options{MaxSeqs: 512, TokenBudget: 256}, []string{"256", "512"}},
		{Options{KVGB: 100, TP: 1}, []string{"116 GB", "1 × A100-80GB"}},
		{Options{KVGB: 0.001}, []string{"KV cache"}},
		{Options{KVGB: 1, MaxModelLen: 8192}, []string{"8192", "7616"}},
		{Options{TP: 3}, []string{"3 GPUs", "32 attention heads"}},
		{Options{TP: 128}, []string{"128 GPUs", "up to 64"}},
		{Options{Dtype: "fp4"}, []string{`"fp4"`, "bf16, fp8, int4"}},
		{Options{KVDtype: "int8"}, []string{`"int8"`, "auto, fp8"}},
		{Options{SpecTokens: 20}, []string{"2048", "128 sequences", "21 tokens"}},
	} {
		_, err := c.o.Resolve()
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: error %v does not name %s", c.o, err, part)
			}
		}
	}
}
