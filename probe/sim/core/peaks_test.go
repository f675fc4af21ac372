package core

import (
	"testing"

	"sonde/probe/roofline"
)

// No step is faster than the bound that the program shows for it.
func TestStepsAreSlowerThanTheRoofline(t *testing.T) {
	ms := func(c cost) float64 { return float64(c.duration()) / 1e6 }
	for _, m := range models {
		for _, o := range []Options{{Model: m.name, GPU: "A100-80GB"}, {Model: m.name, GPU: "H100", Dtype: "fp8"}, {Model: m.name, GPU: "H200", TP: 2}, {Model: m.name, GPU: "H100", Dtype: "int4"}} {
			s, err := o.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			device, _ := roofline.PeaksFor("NVIDIA " + s.Machine.DriverName)
			r := roofline.Roofline{Model: s.Served.Model, Device: device, GPUs: s.Machine.GPUs}
			for _, n := range []int{1, 8, 128} {
				var b Batch
				for range n {
					b.add(1000, 1)
				}
				c := costOf(b, &s.Served, &s.Machine)
				if floor := r.TPOTFloor(float64(n), 1000); ms(c) < floor || ms(c) > 3*floor+12 {
					t.Errorf("%s on %d × %s: a step of %d takes %v ms, with a bound of %v", s.Served.FullName, s.Machine.GPUs, s.Machine.name, n, ms(c), floor)
				}
			}
			prefill := costOfOne(0, 2000, s.Served, s.Machine)
			if floor := r.TTFTFloor(2000, 0); ms(prefill) < floor {
				t.Errorf("%s on %d × %s: a prefill takes %v ms, with a bound of %v", s.Served.FullName, s.Machine.GPUs, s.Machine.name, ms(prefill), floor)
			}
		}
	}
}
