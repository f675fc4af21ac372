package headless

import (
	"fmt"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// gpuWindow gathers the readings of every GPU within the window, in the order
// in which they first appeared.
type gpuWindow struct {
	devices []*deviceWindow
}

type deviceWindow struct {
	id, name, source, parent      string
	sm, dram, busy, memory, watts opt.TimeMean
}

// add takes a Frame of which `held` lies in the window; fresh tells that its
// readings do too. GPUs are listed either way.
func (g *gpuWindow) add(f *frame.Frame, held time.Duration, fresh bool) {
	if stale(f, f.GPU.At) {
		return
	}
	for i := range f.GPU.GPUs {
		r := &f.GPU.GPUs[i]
		d := g.device(r)
		if !fresh {
			continue
		}
		d.sm.Add(r.SM, held)
		d.dram.Add(r.DRAM, held)
		d.busy.Add(r.Busy, held)
		d.memory.Add(r.MemUsed, held)
		d.watts.Add(r.Power, held)
	}
}

func (g *gpuWindow) device(r *gpu.Reading) *deviceWindow {
	for _, d := range g.devices {
		if d.id == r.ID {
			return d
		}
	}
	d := &deviceWindow{id: r.ID, name: r.Name, source: r.Source, parent: r.Parent}
	g.devices = append(g.devices, d)
	return d
}

// remarks say why there are no GPUs, or what is missing of those that there are.
func (g *gpuWindow) remarks(s *gpu.Status) []string {
	if len(g.devices) == 0 && len(s.GPUs) == 0 {
		if s.State != gpu.Tried || s.Why == "" {
			return nil
		}
		return []string{"no GPU readings: " + s.Why}
	}
	var said notes
	for i := range s.GPUs {
		if r := &s.GPUs[i]; r.Lost {
			said.add(fmt.Sprintf("GPU %d: %s", r.Index, r.Note))
		} else if r.Note != "" && r.Parent == "" {
			said.add("GPUs: " + r.Note)
		}
	}
	return said.order
}

func (g *gpuWindow) figures() []GPUFigures {
	out := make([]GPUFigures, 0, len(g.devices))
	for _, d := range g.devices {
		out = append(out, GPUFigures{
			ID: d.id, Name: d.name, Source: d.source,
			SMMean: share(d.sm.Mean()), DRAMMean: share(d.dram.Mean()), BusyMean: share(d.busy.Mean()),
			MemUsedMax: number(d.memory.Max()), PowerWMean: number(d.watts.Mean()),
		})
	}
	return out
}
