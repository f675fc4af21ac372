package sim

import (
	"testing"

	"sonde/probe/roofline"
)

// The machines are those that the program judges real GPUs by, under the names that
// their drivers give.
func TestPeaksAreThoseOfTheTableOfGPUs(t *testing.T) {
	for _, m := range machines {
		p, ok := roofline.PeaksFor("NVIDIA " + m.driverName)
		if !ok {
			p, ok = roofline.PeaksFor(m.driverName)
		}
		if !ok {
			t.Errorf("%s: no such device in the table", m.driverName)
			continue
		}
		near(t, m.name+" bandwidth", m.bandwidth, p.Bandwidth, 1e-9)
		near(t, m.name+" FLOP/s at 16 bits", m.flops, p.BF16, 1e-9)
		near(t, m.name+" FLOP/s at 8 bits", m.flops8, p.FP8.Or(0), 1e-9)
		if m.flops8 != 0 {
			near(t, m.name+" 8 to 16 bits", m.flops8/m.flops, 2, 0.03)
		}
	}
}

// The models have the shapes that the program judges real servers by. Weights of 4 bits
// are without their scales there, 0.125 bits each.
func TestShapesAreThoseOfTheTableOfModels(t *testing.T) {
	for _, sh := range shapes {
		for _, d := range dtypes {
			s, _ := shapeNamed(sh.name)
			s.weights = d
			m, err := roofline.ModelNamed(modelPrefix + s.fullName())
			if err != nil {
				t.Errorf("%s: %v", s.fullName(), err)
				continue
			}
			scales := 0.0
			if d.name == "int4" {
				scales = s.linear() * 0.125 / 8
			}
			near(t, s.fullName()+" parameters", s.params, m.Params, 0.002)
			near(t, s.fullName()+" active ones", s.activeParams, m.ActiveParams, 0.01)
			near(t, s.fullName()+" bytes", s.weightBytes()-scales, m.WeightBytes, 0.002)
			near(t, s.fullName()+" bytes of the input table", s.inputTable()*2, m.TableBytes, 1e-9)
			near(t, s.fullName()+" KV bytes of a token", s.kvBytesPerToken(), m.KVBytesPerToken(), 1e-9)
			if m.EightBit != d.eightBit {
				t.Errorf("%s: computed with 8-bit operands: %v in one table only", s.fullName(), d.eightBit)
			}
			if s.heads != m.Heads || s.kvHeads != m.KVHeads || float64(s.headDim) != m.HeadDim || s.moe.experts != m.Experts || s.moe.perToken != m.ExpertsPerToken {
				t.Errorf("%s: heads or experts differ: %+v, %+v", s.fullName(), s, m)
			}
		}
	}
}

// No step is faster than the bound that the program shows for it.
func TestStepsAreSlowerThanTheRoofline(t *testing.T) {
	for _, name := range names(shapes, shapeName) {
		for _, o := range []Options{{Model: name, GPU: "A100-80GB"}, {Model: name, GPU: "H100", Dtype: "fp8"}, {Model: name, GPU: "H200", TP: 2}, {Model: name, GPU: "H100", Dtype: "int4"}} {
			s, err := o.resolve()
			if err != nil {
				t.Fatal(err)
			}
			model, _ := roofline.ModelNamed(s.shape.fullName())
			device, _ := roofline.PeaksFor("NVIDIA " + s.machine.driverName)
			r := roofline.Roofline{Model: model, Device: device, GPUs: s.machine.gpus}
			for _, n := range []int{1, 8, 128} {
				var b batch
				for range n {
					b.add(1000, 1)
				}
				c := costOf(b, &s.shape, &s.machine)
				if floor := r.TPOTFloor(float64(n), 1000); c.duration() < floor || c.duration() > 3*floor+12e6 {
					t.Errorf("%s on %d × %s: a step of %d takes %v, with a bound of %v", s.shape.fullName(), s.machine.gpus, s.machine.name, n, c.duration(), floor)
				}
			}
			prefill := costOfOne(0, 2000, s.shape, s.machine)
			if floor := r.TTFTFloor(2000, 0); prefill.duration() < floor {
				t.Errorf("%s on %d × %s: a prefill takes %v, with a bound of %v", s.shape.fullName(), s.machine.gpus, s.machine.name, prefill.duration(), floor)
			}
		}
	}
}
