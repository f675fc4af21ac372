package doctor

import (
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
)

// slowPeriod is from where on readings are too seldom for the charts.
const slowPeriod = 3 * time.Second

// gpus says what the hardware tells. local: the endpoint is on this machine.
func (r *Report) gpus(status gpu.Status, local bool) {
	s := r.section("GPU")
	switch {
	case len(status.GPUs) == 0 && strings.HasPrefix(status.Why, switchedOff):
		s.skipped("readings", status.Why)
		return
	case len(status.GPUs) == 0:
		do := whereGPUs(local)
		if strings.Contains(status.Why, "--") {
			do = "" // it names the way out itself
		}
		s.missing("readings", status.Why, do)
		return
	case status.Why != "":
		s.missing("readings", "from "+status.Source+", and no newer ones: "+status.Why, "look whether that source is still up")
	default:
		s.ok("readings", "from "+status.Source)
	}
	for i := range status.GPUs {
		s.device(&status.GPUs[i])
	}
	s.instances(status.GPUs)
	s.interval(status)
}

// whereGPUs says how readings can be had where there are none.
func whereGPUs(local bool) string {
	if local {
		return "on a GPU's machine: install its driver, give this container access to it, or give an exporter with --gpu URL; without a GPU there is nothing to do"
	}
	return "start dcgm-exporter on the GPU's machine (port 9400, -c 1000 for a value each second), or give an exporter with --gpu URL, or --prometheus URL"
}

// instances says what is told of the parts of a GPU.
func (s section) instances(all []gpu.Reading) {
	parents := map[string]int{}
	for _, g := range all {
		if g.Parent != "" {
			parents[g.Parent]++
		}
	}
	parts := 0
	for _, n := range parents {
		parts += n
	}
	if parts > 0 {
		s.ok("MIG", fmt.Sprintf("%s of %s, each with readings of its own; power and temperature are the whole GPU's",
			counted(parts, "instance"), counted(len(parents), "GPU")))
	}
}

// interval says how often the values change.
func (s section) interval(status gpu.Status) {
	switch slow := "start the exporter with a shorter interval (dcgm-exporter: -c 1000)"; {
	case status.Period == 0:
		s.missing("interval", fmt.Sprintf("the values stayed the same for %v: they are read seldom, or the GPU is idle", gpuPatience), slow)
	case status.Period >= slowPeriod:
		s.missing("interval", fmt.Sprintf("new values every %.0f s: short events are not seen", status.Period.Seconds()), slow)
	default:
		s.ok("interval", fmt.Sprintf("new values every %.0f s", status.Period.Seconds()))
	}
}

// device says what one GPU tells, and what it does not.
func (s section) device(g *gpu.Reading) {
	name := fmt.Sprintf("GPU %d", g.Index)
	if g.Lost {
		s.missing(name, g.Name+" is lost: it answers nothing", orElse(g.Note, "look for Xid lines in the kernel's log, then reset it (nvidia-smi --gpu-reset) or reboot"))
		return
	}
	var absent []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"SM activity", g.SM.OK}, {"memory bandwidth", g.DRAM.OK}, {"power", g.Power.OK},
		{"memory", g.MemUsed.OK}, {"temperature", g.Temperature.OK},
	} {
		if !f.has {
			absent = append(absent, f.name)
		}
	}
	if len(absent) == 0 {
		s.ok(name, fmt.Sprintf("%s by %s: everything", g.Name, g.Source))
		return
	}
	s.missing(name, fmt.Sprintf("%s by %s, without %s", g.Name, g.Source, strings.Join(absent, ", ")),
		orElse(g.Note, "another source may tell: --gpu nvml on the GPU's machine, or a DCGM exporter with profiling metrics"))
}

func orElse(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
