package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/watch"
	"sonde/probe"
	"sonde/probe/guard"
	"sonde/probe/units"
)

// slowPeriod is the interval from which on readings are too rare for the charts.
const slowPeriod = 3 * time.Second

// gpus says what the hardware reports. mode is that of --gpu; local: the endpoint
// is on this machine.
func (r *Report) gpus(status gpu.Status, mode string, local bool) {
	s := r.section("GPU").via(gpuWay(status))
	switch {
	case len(status.GPUs) == 0 && status.State == gpu.Off:
		s.skipped("readings", status.Reason())
		return
	case len(status.GPUs) == 0:
		s.needs(gpuNeed(mode, local)).missing("readings", status.Why, whereGPUs(mode, local))
		return
	case status.Why != "":
		s.missing("readings", "from "+status.Source+", but no newer ones: "+status.Why, "check that this source is still up")
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
	if n := len(parts); n > 0 {
		all := 0
		for _, instances := range parts {
			all += instances
		}
		s.ok("MIG", fmt.Sprintf("%s of %s, each with its own readings; power and temperature are those of the whole GPU",
			units.Count(all, "instance"), units.Count(n, "GPU")))
	}
	s.interval(status)
}

// whereGPUs says how to get readings where there are none; "" where the source
// says so itself: a search on the endpoint's host, and a Prometheus server.
func whereGPUs(mode string, local bool) string {
	switch {
	case watch.ViaSSH(mode):
		return "" // the failure says what to do
	case mode == probe.FromPrometheus, !local && (mode == "auto" || mode == ""):
		return ""
	case local:
		return "if this machine has a GPU, install its driver, give this container access to it, or name an exporter with --gpu URL; without a GPU there is nothing to do"
	}
	return "start dcgm-exporter on the GPU's machine (port 9400, -c 1000 for a value each second), or use --gpu URL or --prometheus URL"
}

// interval says how often the values change.
func (s section) interval(status gpu.Status) {
	switch slow := "set a shorter interval in the exporter (dcgm-exporter: -c 1000)"; {
	case status.Period == 0:
		s.missing("interval", fmt.Sprintf("values unchanged for %.0f s: they are updated rarely, or the GPU is idle", gpuPatience.Seconds()), slow)
	case status.Period >= slowPeriod:
		s.missing("interval", fmt.Sprintf("new values every %.0f s: short events are missed", status.Period.Seconds()), slow)
	default:
		s.ok("interval", fmt.Sprintf("new values every %.0f s", status.Period.Seconds()))
	}
}

// device says what one GPU, or one MIG instance, reports and what it does not. A
// split GPU has instances, which report the rest.
func (s section) device(g *gpu.Reading, split bool) {
	name := fmt.Sprintf("GPU %d", g.Index)
	if g.Parent != "" {
		name += " part"
	}
	if g.Lost {
		s.missing(name, g.Name+" is lost: "+cmp.Or(g.Note, "its source no longer lists it"), "look for Xid lines in the kernel log, then reset it (nvidia-smi --gpu-reset) or reboot")
		return
	}
	work := !split          // SM, bandwidth and memory are reported for what runs programs
	board := g.Parent == "" // power and temperature are those of the whole
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
		s.ok(name, fmt.Sprintf("%s by %s: all readings", g.Name, g.Source))
		return
	}
	s.missing(name, fmt.Sprintf("%s by %s, without %s", g.Name, g.Source, strings.Join(absent, ", ")),
		cmp.Or(g.Note, "another source may have them: --gpu nvml on the GPU's machine, or a DCGM exporter with profiling metrics"))
}

// gpuPatience is how long the first readings of GPUs may take; sshPatience where a login
// through jump hosts comes first.
const (
	gpuPatience = 4 * time.Second
	sshPatience = 20 * time.Second
)

func gpuWait(mode string) time.Duration {
	if watch.ViaSSH(mode) {
		return sshPatience
	}
	return gpuPatience
}

// localGPU looks for the GPUs of this machine.
func (r *Report) localGPU(ctx context.Context, mode string) {
	if mode == probe.FromPrometheus {
		mode = "auto" // without an endpoint there are no GPUs to look up
	}
	ctx, cancel := context.WithTimeout(ctx, gpuWait(mode))
	defer cancel()
	source := watch.Open(watch.Options{Mode: mode, Local: true})
	guard.Go("GPU readings", func(error) {}, func() { source.Run(ctx) })
	now := source.Latest()
	for ; ctx.Err() == nil && !gpuSettled(now, mode); now = source.Latest() {
		time.Sleep(50 * time.Millisecond)
	}
	r.gpus(now, mode, true)
}
