package core

import "testing"

// 4 H100, Llama-3.1-70B, 1,000 tokens: an all-reduce adds up 1,000 × 8,192 × 2 bytes =
// 16.4 MB; a ring of 4 moves 1.5 times that, 24.6 MB, at 0.8 × 450 GB/s: 68 µs, and 10
// µs of latency. Two in each of 80 layers are 12.5 ms.
func TestAllReducesFollowFromTheirBytes(t *testing.T) {
	one, _ := machineNamed("H100")
	s := served(t, "Llama-3.1-70B", "bf16")
	m := one.times(4)
	near(t, "ms in all-reduces", m.allReduces(&s, 1000).Seconds()*1e3, 12.5, 0.003)
	// One token: 25 kB are 0.07 µs, the rest is latency.
	near(t, "ms with one token", m.allReduces(&s, 1).Seconds()*1e3, 1.611, 0.001)
	if d := one.allReduces(&s, 1000); d != 0 {
		t.Errorf("a single GPU spends %v in all-reduces", d)
	}
}

// Twice the GPUs read the weights in half the time; the all-reduces are what is lost.
func TestTensorParallelDecode(t *testing.T) {
	step := func(n int) cost {
		one, _ := machineNamed("H100")
		s := served(t, "Llama-3.1-8B", "bf16")
		return costOfOne(1000, 1, s, one.times(n))
	}
	one, two := step(1), step(2)
	near(t, "memory time on two GPUs", two.memory.Seconds(), one.memory.Seconds()/2, 1e-6)
	if two.link <= 0 || two.duration() >= one.duration() {
		t.Errorf("a step takes %v on one GPU, %v on two with %v in all-reduces", one.duration(), two.duration(), two.link)
	}
}

// PCIe is more than ten times narrower than NVLink: there a prefill spends more time
// in all-reduces than it saves.
func TestNarrowLinksSpoilPrefill(t *testing.T) {
	s := served(t, "Llama-3.1-8B", "bf16")
	m, _ := machineNamed("L40S")
	c := costOfOne(0, 2000, s, m.times(2))
	// 2,000 × 4,096 × 2 bytes at 0.8 × 32 GB/s: 0.64 ms and 25 µs, 64 times.
	near(t, "ms in all-reduces", c.link.Seconds()*1e3, 42.6, 0.005)
	one := costOfOne(0, 2000, s, m)
	if one.duration() > c.duration()*3/2 {
		t.Errorf("%v on one, %v on two", one.duration(), c.duration())
	}
}

// Qwen3-30B-A3B has 4 KV heads: on 8 GPUs each is held twice.
func TestKVHeadsAreCopiedWhenTheyRunOut(t *testing.T) {
	s := served(t, "Qwen3-30B-A3B", "bf16")
	one, _ := machineNamed("A100-40GB")
	for gpus, want := range map[int]float64{1: 1, 4: 1, 8: 2} {
		m := one.times(gpus)
		if got := m.kvReplicas(&s); got != want {
			t.Errorf("%d GPUs hold the KV %g times, want %g", gpus, got, want)
		}
	}
	read := func(gpus int) float64 {
		m := one.times(gpus)
		return costOfOne(10000, 1, s, m).bytes - costOfOne(0, 1, s, m).bytes
	}
	near(t, "KV bytes read by 8 GPUs", read(8), 2*read(4), 1e-9)
}
