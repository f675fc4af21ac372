package level

import (
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// GPU are means over time of one device.
type GPU struct {
	ID, Name, Source, Parent string
	SM, DRAM, Busy, Power    opt.Float
	MemUsedMax               opt.Float // bytes
}

// gpuTally gathers the readings of every GPU within a span, in the order in which they first
// appeared.
type gpuTally struct{ devices []*device }

type device struct {
	about                                 GPU
	sm, dram, tensor, busy, memory, watts opt.TimeMean
}

// add takes a Frame of which so much is in the span; seen reports whether its readings were
// taken in it. GPUs are listed either way.
func (g *gpuTally) add(f *frame.Frame, held time.Duration, seen bool) {
	if held == 0 {
		return
	}
	readings := f.FreshGPUs()
	for i := range readings {
		r := &readings[i]
		d := g.device(r)
		if !seen {
			continue
		}
		d.sm.Add(r.SM, held)
		d.dram.Add(r.DRAM, held)
		d.tensor.Add(r.Tensor, held)
		d.busy.Add(r.Busy, held)
		d.memory.Add(r.MemUsed, held)
		d.watts.Add(r.Power, held)
	}
}

func (g *gpuTally) device(r *gpu.Reading) *device {
	i := slices.IndexFunc(g.devices, func(d *device) bool { return d.about.ID == r.ID })
	if i < 0 {
		i = len(g.devices)
		g.devices = append(g.devices, &device{about: GPU{ID: r.ID, Name: r.Name, Source: r.Source, Parent: r.Parent}})
	}
	return g.devices[i]
}

// figures puts the devices, and the means over them, into a Level.
func (g *gpuTally) figures(l *Level) {
	var sm, dram, tensor opt.TimeMean
	for _, d := range g.devices {
		one := d.about
		one.SM, one.DRAM, one.Busy, one.Power = d.sm.Mean(), d.dram.Mean(), d.busy.Mean(), d.watts.Mean()
		one.MemUsedMax = d.memory.Max()
		l.GPUs = append(l.GPUs, one)
		sm.Merge(&d.sm)
		dram.Merge(&d.dram)
		tensor.Merge(&d.tensor)
	}
	l.SM, l.DRAM, l.Tensor = sm.Mean(), dram.Mean(), tensor.Mean()
}
