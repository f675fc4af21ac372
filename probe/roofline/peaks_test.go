package roofline

import (
	"math"
	"testing"

	"sonde/probe/opt"
)

func TestPeaksByDriverName(t *testing.T) {
	for _, c := range []struct {
		name           string
		gbs, bf16, fp8 float64 // GB/s, TFLOP/s; fp8 0: no such hardware
		approximate    bool
	}{
		{"NVIDIA H100 80GB HBM3", 3350, 989, 1979, false},
		{"NVIDIA-H100-80GB-HBM3", 3350, 989, 1979, false}, // an exporter that replaces blanks
		{"NVIDIA H100 PCIe", 2000, 756.5, 1513, false},
		{"NVIDIA H200", 4800, 989, 1979, false},
		{"NVIDIA A100-SXM4-80GB", 2039, 312, 0, false},
		{"NVIDIA A100 80GB PCIe", 1935, 312, 0, false},
		{"NVIDIA L40S", 864, 362, 733, false},
		{"NVIDIA GeForce RTX 4090", 1008, 165.2, 330.3, false},
		{"NVIDIA B200", 8000, 2250, 4500, false},
		{"Tesla T4", 320, 65, 0, false},
		{"NVIDIA GB10", 273, 125, 250, true},
		{"NVIDIA H800 PCIe", 2000, 756.5, 1513, true},
		{"AMD Instinct MI300X", 5300, 1307, 2615, false},
		// MIG: half of the memory and three sevenths of the compute
		{"NVIDIA H100 80GB HBM3 MIG 3g.40gb", 1675, 989.0 * 3 / 7, 1979.0 * 3 / 7, true},
		{"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 1555.0 / 8, 312.0 / 7, 0, true},
	} {
		p, ok := PeaksFor(c.name)
		if !ok || !near(p.Bandwidth, c.gbs*1e9) || !near(p.BF16, c.bf16*1e12) || p.FP8.OK != (c.fp8 > 0) ||
			!near(p.FP8.V, c.fp8*1e12) || p.Approximate != c.approximate {
			t.Errorf("%s: %v %+v", c.name, ok, p)
		}
	}
	for _, name := range []string{"", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D", "NVIDIA L20Y",
		"NVIDIA A10-24Q", "NVIDIA RTX 5880 Ada Generation", "AMD Radeon Graphics"} {
		if p, ok := PeaksFor(name); ok {
			t.Errorf("%q is taken for %s", name, p.Name)
		}
	}
}

func TestEveryRowOfThePeaksTableIsUsable(t *testing.T) {
	rows := peakTable()
	if len(rows) != 53 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		p := r.whole
		// No part of today moves more than 10 TB/s or computes less than it moves.
		if !(p.Bandwidth > 1e11 && p.Bandwidth < 1e13) || !(p.BF16 > 10*p.Bandwidth) || !(p.Memory > 8e9) ||
			p.FP8.OK && !(p.FP8.V > 1.9*p.BF16) || p.Source == "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestBandwidthPrefersTheTableUnlessTheDriverDiffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		driver opt.Float
		want   opt.Float
	}{
		{"NVIDIA H100 80GB HBM3", opt.Of(3352e9), opt.Of(3350e9)},
		{"NVIDIA H100 80GB HBM3", opt.Float{}, opt.Of(3350e9)},
		{"NVIDIA H100 80GB HBM3", opt.Of(2000e9), opt.Of(2000e9)}, // an unusual board
		{"NVIDIA GeForce RTX 4080 SUPER", opt.Of(736e9), opt.Of(736e9)},
		{"NVIDIA GeForce RTX 4080 SUPER", opt.Float{}, opt.Float{}},
	} {
		p, ok := GPU{Name: c.name, Bandwidth: c.driver}.Peaks()
		if ok != c.want.OK || p.Bandwidth != c.want.V {
			t.Errorf("%s with %v: %v %v, want %v", c.name, c.driver, ok, p.Bandwidth, c.want)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
