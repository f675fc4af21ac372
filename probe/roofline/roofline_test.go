package roofline

import (
	"math"
	"strings"
	"testing"

	"sonde/probe/opt"
)

// about compares with a value that was worked out by hand, to a thousandth.
func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-3*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// seven is a model of 7e9 parameters at 16 bit without KV cache.
var seven = Model{Name: "7B", Params: 7e9, ActiveParams: 7e9, WeightBytes: 14e9}

func named(t *testing.T, name string) Model {
	t.Helper()
	m, err := ModelNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func peaksOf(t *testing.T, name string) Peaks {
	t.Helper()
	p, ok := PeaksFor(name)
	if !ok {
		t.Fatal(name)
	}
	return p
}

func TestFloorsOfSevenBillion(t *testing.T) {
	r := Roofline{Model: seven, Device: Peaks{Bandwidth: 2e12, BF16: 312e12}}
	about(t, "14 GB at 2 TB/s", r.TPOTFloor(1, 0), 7)
	about(t, "1.4e13 FLOP at 312 TFLOP/s", r.TTFTFloor(1000, 0), 44.87)
	about(t, "a prompt of 10 tokens reads the weights", r.TTFTFloor(10, 0), 7)
	about(t, "900 of 1000 tokens cached: 100 of 1.4e10 FLOP", r.TTFTFloor(1000, 900), 7) // 4.5 ms of arithmetic
	about(t, "600 of 1000 tokens cached", r.TTFTFloor(1000, 600), 17.95)
	// From 156 sequences on arithmetic binds: 1.4e10 FLOP × 200 / 312e12.
	about(t, "a batch of 200", r.TPOTFloor(200, 0), 8.974)
	about(t, "a step without a sequence does not happen", r.TPOTFloor(0.2, 0), 7)
	about(t, "14 ms are twice the floor", r.MBU(1, 0, 14), 0.5)
	about(t, "1.4e10 FLOP × 1000 tokens/s over 312e12", r.MFU(1000), 0.04487)
}

func TestLlamaOnH100(t *testing.T) {
	r := Roofline{Model: named(t, "Llama-3.1-8B"), Device: peaksOf(t, "NVIDIA H100 80GB HBM3")}
	// 16.06 GB less an input table of 128256 × 4096 × 2 bytes: 15.01 GB at 3350 GB/s.
	about(t, "one sequence", r.TPOTFloor(1, 0), 4.4805)
	// and 32 × 2048 × 131072 bytes: 8.59 GB
	about(t, "32 sequences of 2048", r.TPOTFloor(32, 2048), 7.0447)
	// 2 × 8.030e9 × 1000 and 2 × 32 layers × 32 heads × 128 × 1000²: 1.6322e13 at 989 TFLOP/s
	about(t, "a prompt of 1000", r.TTFTFloor(1000, 0), 16.504)
}

func TestTensorParallel(t *testing.T) {
	h100 := peaksOf(t, "NVIDIA H100 80GB HBM3")
	llama := func(gpus int) Roofline { return Roofline{Model: named(t, "Llama-3.1-70B"), Device: h100, GPUs: gpus} }
	// 70.55e9 parameters, of which 128256 × 8192 are an input table: 139.0 GB in 4 parts
	about(t, "4 GPUs", llama(4).TPOTFloor(1, 0), 10.374)
	about(t, "4 GPUs share 8 KV heads", llama(4).kvBytes(1000), 327680e3/4)
	about(t, "16 GPUs repeat them", llama(16).kvBytes(1000), 327680e3/8)
	latent := Roofline{Model: named(t, "DeepSeek-V3"), Device: h100, GPUs: 8}
	about(t, "a latent cache lies on every GPU", latent.kvBytes(1000), 70272e3)
	about(t, "arithmetic is spread, too", llama(4).MFU(1000), 2*70.55e9*1000/4/989e12)
}

func TestEightBitArithmetic(t *testing.T) {
	m := named(t, "Qwen3-8B-FP8")
	if r := (Roofline{Model: m, Device: peaksOf(t, "NVIDIA H100 80GB HBM3")}); r.flops() != 1979e12 {
		t.Errorf("%g FLOP/s", r.flops())
	}
	if r := (Roofline{Model: m, Device: peaksOf(t, "NVIDIA A100-SXM4-80GB")}); r.flops() != 312e12 {
		t.Errorf("%g FLOP/s without 8-bit tensor cores", r.flops())
	}
}

func TestExpertsThatABatchReads(t *testing.T) {
	m := Model{Experts: 128, ExpertsPerToken: 8, ExpertBytes: 128, WeightBytes: 128} // a byte an expert
	for batch, want := range map[float64]float64{0.3: 8, 1: 8, 8: 51.6, 32: 111.8, 64: 125.9} {
		if got := m.WeightsRead(batch); math.Abs(got-want) > 0.1 {
			t.Errorf("batch %g: %g experts, want %g", batch, got, want)
		}
	}
}

func TestWindowedLayers(t *testing.T) {
	m := Model{Layers: 1, WindowedLayers: 1, Window: 100, KVLayerBytes: 10, Heads: 1, HeadDim: 1}
	about(t, "KV of 50 tokens", m.KVBytes(50), 1000)
	about(t, "KV of 300 tokens", m.KVBytes(300), 4000)
	// pairs of 300 tokens: 300²/2; within the window 100²/2 + 200 × 100
	about(t, "attention", m.AttentionFLOP(0, 300), 4*(45000+25000))
	// the last 100 of 300: 45000 − 200²/2; each of them sees 100
	about(t, "attention behind a cached prefix", m.AttentionFLOP(200, 100), 4*(25000+10000))
}

// 256 bit and 11501 MHz: 256 / 8 × 11501e6 × 2 = 736.064e9 bytes/s, and no FLOP/s
// peak. 14 GB take 19.02 ms; a batch of 1000 would be bound by arithmetic, but
// nobody knows how much.
func TestAPeakFromTheDriverOnly(t *testing.T) {
	seen := GPU{Name: "NVIDIA GeForce RTX 4080 SUPER", Bandwidth: opt.Of(256.0 / 8 * 11501e6 * 2)}
	p, ok := seen.Peaks()
	if !ok || p.Bandwidth != 736.064e9 || p.BF16 != 0 {
		t.Fatalf("%+v", p)
	}
	r := Roofline{Model: seven, Device: p}
	about(t, "one sequence", r.TPOTFloor(1, 0), 19.02)
	about(t, "a thousand", r.TPOTFloor(1000, 0), 19.02)
	b := r.Judge(Work{Batch: opt.Of(1), Input: opt.Of(1000), Output: opt.Of(500), TPOTMS: opt.Of(38.04), InPerS: opt.Of(10), OutPerS: opt.Of(10)})
	about(t, "MBU", b.MBU.V, 0.5)
	if b.TTFTFloorMS.OK || b.MFU.OK || !strings.HasSuffix(b.Assumes, "RTX 4080 SUPER: 0.7361 TB/s, FLOP/s unknown and not counted") {
		t.Errorf("%+v", b)
	}
}

// A board whose driver reports 2.0 TB/s where the data sheet has 3.35: the driver is right, and it is said.
func TestAnUnusualBoardIsNamed(t *testing.T) {
	p, ok := GPU{Name: "NVIDIA H100 80GB HBM3", Bandwidth: opt.Of(2e12)}.Peaks()
	if !ok || p.Bandwidth != 2e12 || p.BF16 != 989e12 || p.Name != "NVIDIA H100 SXM5 (3.35 TB/s in the data sheet)" {
		t.Errorf("%+v", p)
	}
	p, _ = GPU{Name: "NVIDIA H200", Bandwidth: opt.Of(4917e9)}.Peaks() // 2.4 % more than 4800
	if p.Bandwidth != 4800e9 || p.Name != "NVIDIA H200 SXM5" {
		t.Errorf("%+v", p)
	}
}

func TestJudge(t *testing.T) {
	r := Roofline{Model: seven, Device: Peaks{Name: "X", Bandwidth: 2e12, BF16: 312e12}}
	r.Model.Layers, r.Model.KVLayerBytes = 1, 1e6
	w := Work{Batch: opt.Of(4), Input: opt.Of(1000), Output: opt.Of(500), TPOTMS: opt.Of(19), InPerS: opt.Of(2000), OutPerS: opt.Of(1000)}
	b := r.Judge(w)
	// 14 GB and 4 × 1250 tokens × 1 MB: 19 GB at 2 TB/s
	about(t, "TPOT", b.TPOTFloorMS.V, 9.5)
	about(t, "MBU", b.MBU.V, 0.5)
	about(t, "TTFT", b.TTFTFloorMS.V, 44.87)
	about(t, "MFU", b.MFU.V, 3000*1.4e10/312e12)
	if b.Why != "" || !strings.HasPrefix(b.Assumes, "4.0 sequences of 1250 tokens of context; 7B with 7 B parameters") {
		t.Errorf("%q, %q", b.Why, b.Assumes)
	}
	w.Cached = opt.Of(0.4)
	about(t, "MFU of what was computed", r.Judge(w).MFU.V, 2200*1.4e10/312e12)
	w.TPOTMS = opt.Float{}
	if b := r.Judge(w); b.MBU.OK || !b.TPOTFloorMS.OK {
		t.Errorf("without TPOT: %+v", b)
	}
	w.Batch = opt.Float{}
	if b := r.Judge(w); b.TPOTFloorMS.OK || b.Why == "" || !b.TTFTFloorMS.OK {
		t.Errorf("without batch: %+v", b)
	}
	if b := r.Judge(Work{Batch: opt.Of(4)}); b.TPOTFloorMS.OK || b.TTFTFloorMS.OK || b.MBU.OK || b.MFU.OK || b.Why == "" {
		t.Errorf("without tokens: %+v", b)
	}
}
