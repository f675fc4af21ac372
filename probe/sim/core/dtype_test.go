package core

import "testing"

// Llama-3.1-8B: 8.03e9 parameters, of which the two tables of 128,256 × 4,096 stay at
// 16 bits: 2.10 GB. The other 6.98e9 take 13.96, 6.98 or, at 4.125 bits, 3.60 GB. A
// step does not read the input table, 1.05 GB.
func TestBytesByDtype(t *testing.T) {
	for name, want := range map[string][2]float64{
		"bf16": {16.06e9, 15.01e9}, "fp8": {9.08e9, 8.03e9}, "int4": {5.70e9, 4.65e9},
	} {
		s := served(t, "Llama-3.1-8B", name)
		near(t, name+" weights", s.WeightBytes, want[0], 0.001)
		near(t, name+" weights read", s.WeightsRead(1), want[1], 0.001)
	}
}

// Where the GPU has 8-bit tensor cores, products with fp8 weights take half the time;
// attention stays at 16 bits, and 4-bit weights are widened before they are multiplied.
func TestArithmeticByDtype(t *testing.T) {
	compute := func(gpu, weights string) float64 {
		m, err := machineNamed(gpu)
		if err != nil {
			t.Fatal(err)
		}
		c := costOfOne(0, 1000, served(t, "Llama-3.1-8B", weights), m)
		return c.compute.Seconds()
	}
	// 1,000 × 16.06 GFLOP and 2.62e11 for attention at 0.6 × 989 TFLOP/s.
	near(t, "bf16 on H100", compute("H100", "bf16"), (1.606e13+2.62e11)/(0.6*989e12), 0.001)
	near(t, "fp8 on H100", compute("H100", "fp8"), 1.606e13/(0.6*1979e12)+2.62e11/(0.6*989e12), 0.001)
	near(t, "int4 on H100", compute("H100", "int4"), compute("H100", "bf16"), 1e-9)
	near(t, "fp8 on A100, without 8-bit tensor cores", compute("A100-80GB", "fp8"), compute("A100-80GB", "bf16"), 1e-9)
}

func TestKVDtypeHalvesTheCache(t *testing.T) {
	wide, err := Options{KVGB: 4}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := Options{KVGB: 4, KVDtype: "fp8"}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	// 4e9 / (16 × 131,072) = 1,907 blocks.
	if wide.KVBlocks != 1907 || narrow.KVBlocks != 3814 {
		t.Errorf("%d blocks of 16-bit KV, %d of 8-bit KV; want 1907, 3814", wide.KVBlocks, narrow.KVBlocks)
	}
	near(t, "KV bytes of a token", narrow.Served.KVBytesPerToken(), 65536, 1e-9)
}
