package sim

import (
	"math"
	"testing"
	"time"
)

// ideal is a machine that reaches its peaks and has no overhead.
func ideal(bandwidth, flops float64) machine {
	return machine{gpus: 1, bandwidth: bandwidth, flops: flops, bandwidthShare: 1, flopsShare: 1}
}

func dense(params float64) shape {
	return shape{params: params, activeParams: params, weights: dtypes[0], kv: kvDtypes[0]}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func costOfOne(context, fresh int, s shape, m machine) cost {
	var b batch
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
	s := shape{layers: 32, heads: 32, headDim: 128, weights: dtypes[0]} // no weights: attention alone
	c := costOfOne(0, 1000, s, ideal(1, 1))
	near(t, "attention of 1,000 tokens", c.flops, 2*32*32*128*1e6, 1e-9)

	var whole, parts batch
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
		s, err := shapeNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.kvBytesPerToken(); got != want {
			t.Errorf("%s: %g bytes per token, want %g", name, got, want)
		}
	}
}

// 15.0 GB of weights read, and 32 × 2048 tokens of KV are 8.6 GB: 4.5 and 7.0 ms
// at 3.35 TB/s.
func TestLlama8BOnH100(t *testing.T) {
	s, _ := shapeNamed("llama-3.1-8b")
	m := ideal(3350e9, 989e12)
	one := costOfOne(0, 1, s, m)
	near(t, "ms at batch 1", one.duration().Seconds()*1e3, 4.48, 0.003)
	var b batch
	for range 32 {
		b.add(2048, 1)
	}
	full := costOf(b, &s, &m)
	near(t, "ms at batch 32", full.duration().Seconds()*1e3, 7.04, 0.005)
}

// With 128 experts of which each token takes 8, a batch of 1, 8, 32 touches 8,
// 51.6, 111.8 of them.
func TestRoutedExpertsRead(t *testing.T) {
	s, _ := shapeNamed("Qwen3-30B-A3B")
	other := s.params - s.inputTable() - s.expertParams()
	for n, want := range map[int]float64{1: 8, 8: 51.6, 32: 111.8} {
		experts := (s.weightReadBytes(n)/2 - other) / (s.expertParams() / 128)
		near(t, "experts read", experts, want, 0.001)
	}
}

func TestActivityFollowsTheRoofline(t *testing.T) {
	s, _ := shapeNamed("Llama-3.1-8B")
	m, _ := machineNamed("A100-80GB")
	decode := costOfOne(500, 1, s, m)
	a := decode.activity(&m)
	// Memory-bound: 0.8 of the bandwidth while kernels run, tensor cores idle.
	near(t, "DRAM while decoding", a.dram, 0.8*a.busy, 1e-6)
	if a.tensor > 0.02 {
		t.Errorf("tensor activity while decoding one stream is %g", a.tensor)
	}
	prefill := costOfOne(0, 2048, s, m)
	a = prefill.activity(&m)
	near(t, "tensor activity in prefill", a.tensor, 0.6*a.busy, 1e-6)
	if a.dram > 0.1 {
		t.Errorf("DRAM activity in prefill is %g", a.dram)
	}
}

func TestActivityIsAveragedOverTheLastSecond(t *testing.T) {
	s, _ := shapeNamed("Llama-3.1-8B")
	m, _ := machineNamed("A100-80GB")
	var l activityLog
	it := iteration{start: 10 * time.Second, cost: costOfOne(0, 2048, s, m)}
	it.end = it.start + 250*time.Millisecond
	l.add(it, &m)
	full := it.cost.activity(&m)
	for at, share := range map[time.Duration]float64{
		10100 * time.Millisecond: 0.1, // it shows while it runs
		10900 * time.Millisecond: 0.25,
		11150 * time.Millisecond: 0.1, // leaving the window
		12 * time.Second:         0,
	} {
		if got := l.mean(at).tensor; math.Abs(got-share*full.tensor) > 1e-9 {
			t.Errorf("at %v tensor activity is %g, want %g", at, got, share*full.tensor)
		}
	}
}
