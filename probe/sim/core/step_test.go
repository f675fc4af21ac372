package core

import (
	"math"
	"testing"
	"time"

	"sonde/probe/roofline"
)

// ideal is a machine that reaches its peaks and has no overhead.
func ideal(bandwidth, flops float64) Machine {
	return Machine{GPUs: 1, Peaks: roofline.Peaks{Bandwidth: bandwidth, BF16: flops}, bandwidthShare: 1, flopsShare: 1}
}

func served(t *testing.T, name, dtype string) Model {
	t.Helper()
	m, err := modelNamed(name, dtype, "auto")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func dense(params float64) Model {
	return Model{Model: roofline.Model{Params: params, ActiveParams: params, WeightBytes: 2 * params}}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func costOfOne(context, fresh int, s Model, m Machine) cost {
	var b Batch
	b.add(context, fresh)
	return costOf(b, &s, &m)
}

func TestDecodeOfSevenBillionReadsItsWeightsInSevenMilliseconds(t *testing.T) {
	c := costOfOne(0, 1, dense(7e9), ideal(2e12, 312e12)) // 14 GB at 2 TB/s
	if c.duration() != 7*time.Millisecond {
		t.Errorf("one token takes %v, want 7ms", c.duration())
	}
}

func TestPrefillFLOPs(t *testing.T) {
	m := ideal(2e12, 312e12)
	small := costOfOne(0, 1000, dense(7e9), m)
	near(t, "FLOPs of 1,000 tokens", small.flops, 1.4e13, 1e-9)
	near(t, "seconds of 1,000 tokens", small.duration().Seconds(), 0.04487, 1e-3)
	large := costOfOne(0, 1000, dense(70e9), m)
	near(t, "FLOPs of 70B to those of 7B", large.flops/small.flops, 10, 1e-9)
}

func TestAttentionFLOPsAreCausal(t *testing.T) {
	s := Model{Model: roofline.Model{Layers: 32, Heads: 32, HeadDim: 128}} // no weights: attention alone
	c := costOfOne(0, 1000, s, ideal(1, 1))
	near(t, "attention of 1,000 tokens", c.flops, 2*32*32*128*1e6, 1e-9)

	var whole, parts Batch
	whole.add(0, 1000)
	parts.add(0, 400)
	parts.add(400, 600)
	near(t, "attended pairs in two chunks", parts.attended, whole.attended, 1e-12)
}

func TestKVBytesPerToken(t *testing.T) {
	for name, want := range map[string]float64{
		"Llama-3.1-8B": 131072, "Llama-3.1-70B": 327680, "Qwen2.5-7B": 57344,
		"Qwen3-30B-A3B": 98304, "Qwen2.5-0.5B": 12288, "Llama-3.2-1B": 32768,
	} {
		s := served(t, name, "bf16")
		if got := s.KVBytesPerToken(); got != want {
			t.Errorf("%s: %g bytes per token, want %g", name, got, want)
		}
	}
}

// 15.0 GB of weights read, and 32 × 2048 tokens of KV are 8.6 GB: 4.5 and 7.0 ms
// at 3.35 TB/s.
func TestLlama8BOnH100(t *testing.T) {
	s := served(t, "llama-3.1-8b", "bf16")
	m := ideal(3350e9, 989e12)
	one := costOfOne(0, 1, s, m)
	near(t, "ms at batch 1", one.duration().Seconds()*1e3, 4.48, 0.003)
	var b Batch
	for range 32 {
		b.add(2048, 1)
	}
	full := costOf(b, &s, &m)
	near(t, "ms at batch 32", full.duration().Seconds()*1e3, 7.04, 0.005)
}

// With 128 experts of which each token takes 8, a batch of 1, 8, 32 touches 8,
// 51.6, 111.8 of them.
func TestRoutedExpertsRead(t *testing.T) {
	s := served(t, "Qwen3-30B-A3B", "bf16")
	other := s.WeightBytes - s.TableBytes - s.ExpertBytes
	for n, want := range map[int]float64{1: 8, 8: 51.6, 32: 111.8} {
		experts := (s.WeightsRead(float64(n)) - other) / (s.ExpertBytes / 128)
		near(t, "experts read", experts, want, 0.001)
	}
}

func TestActivityFollowsTheRoofline(t *testing.T) {
	s := served(t, "Llama-3.1-8B", "bf16")
	m, _ := machineNamed("A100-80GB")
	decode := costOfOne(500, 1, s, m)
	a := decode.activity(&m)
	// Memory-bound: 0.8 of the bandwidth while kernels run, tensor cores idle.
	near(t, "DRAM while decoding", a.DRAM, 0.8*a.Busy, 1e-6)
	if a.Tensor > 0.02 {
		t.Errorf("tensor activity while decoding one stream is %g", a.Tensor)
	}
	prefill := costOfOne(0, 2048, s, m)
	a = prefill.activity(&m)
	near(t, "tensor activity in prefill", a.Tensor, 0.6*a.Busy, 1e-6)
	if a.DRAM > 0.1 {
		t.Errorf("DRAM activity in prefill is %g", a.DRAM)
	}
}

func TestActivityIsAveragedOverTheLastSecond(t *testing.T) {
	s := served(t, "Llama-3.1-8B", "bf16")
	m, _ := machineNamed("A100-80GB")
	var l activityLog
	it := Iteration{start: 10 * time.Second, cost: costOfOne(0, 2048, s, m)}
	it.End = it.start + 250*time.Millisecond
	l.add(it, &m)
	full := it.cost.activity(&m)
	for at, share := range map[time.Duration]float64{
		10100 * time.Millisecond: 0.1, // it shows while it runs
		10900 * time.Millisecond: 0.25,
		11150 * time.Millisecond: 0.1, // leaving the window
		12 * time.Second:         0,
	} {
		if got := l.mean(at).Tensor; math.Abs(got-share*full.Tensor) > 1e-9 {
			t.Errorf("at %v tensor activity is %g, want %g", at, got, share*full.Tensor)
		}
	}
}
