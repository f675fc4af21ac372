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
	case len(status.GPUs) == 0 && status.State == gpu.Off:
		s.skipped("readings", status.Reason())
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
	parts := map[string]int{}
	for _, g := range status.GPUs {
		if g.Parent != "" {
			parts[g.Parent]++
		}
	}
	for i := range status.GPUs {
		s.device(&status.GPUs[i], parts[status.GPUs[i].ID] > 0)
	}
	s.instances(parts)
	s.interval(status)
}

// whereGPUs says how readings can be had where there are none.
func whereGPUs(local bool) string {
	if local {
		return "on a GPU's machine: install its driver, give this container access to it, or give an exporter with --gpu URL; without a GPU there is nothing to do"
	}
	return "start dcgm-exporter on the GPU's machine (port 9400, -c 1000 for a value each second), or give an exporter with --gpu URL, or --prometheus URL"
}

// instances says what is told of the parts of GPUs, counted by the whole.
func (s section) instances(parts map[string]int) {
	all := 0
	for _, n := range parts {
		all += n
	}
	if all > 0 {
		s.ok("MIG", fmt.Sprintf("%s of %s, each with readings of its own; power and temperature are the whole GPU's",
			counted(all, "instance"), counted(len(parts), "GPU")))
	}
}

// interval says how often the values change.
func (s section) interval(status gpu.Status) {
	switch slow := "start the exporter with a shorter interval (dcgm-exporter: -c 1000)"; {
	case status.Period == 0:
		s.missing("interval", fmt.Sprintf("the values stayed the same for %.0f s: they are read seldom, or the GPU is idle", gpuPatience.Seconds()), slow)
	case status.Period >= slowPeriod:
		s.missing("interval", fmt.Sprintf("new values every %.0f s: short events are not seen", status.Period.Seconds()), slow)
	default:
		s.ok("interval", fmt.Sprintf("new values every %.0f s", status.Period.Seconds()))
	}
}

// device says what one GPU, or one part of it, tells and what it does not. split
// tells that the GPU is divided: its parts say the rest.
func (s section) device(g *gpu.Reading, split bool) {
	name := fmt.Sprintf("GPU %d", g.Index)
	if g.Parent != "" {
		name += " part"
	}
	if g.Lost {
		s.missing(name, joined(g.Name+" is lost", g.Note), "look for Xid lines in the kernel's log, then reset it (nvidia-smi --gpu-reset) or reboot")
		return
	}
	work := !split          // SM, bandwidth and memory are told of what runs programs
	board := g.Parent == "" // power and temperature are told of the whole
	var absent []string
	for _, f := range []struct {
		name      string
		has, want bool
	}{
		{"SM activity", g.SM.OK, work}, {"memory bandwidth", g.DRAM.OK, work}, {"power", g.Power.OK, board},
		{"memory", g.MemUsed.OK, work}, {"temperature", g.Temperature.OK, board},
	} {
		if f.want && !f.has {
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

// joined puts a remark behind what it is about.
func joined(what, remark string) string {
	if remark == "" {
		return what
	}
	return what + ": " + remark
}

func orElse(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
