package doctor

import (
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
)

// slowPeriod is from where on readings are too seldom for the charts.
const slowPeriod = 3 * time.Second

// gpus says what the hardware tells.
func (r *Report) gpus(status gpu.Status) {
	s := r.section("GPU")
	if len(status.GPUs) == 0 {
		s.unread("readings", status.Why)
		return
	}
	s.ok("readings", "from "+status.Source)
	for i := range status.GPUs {
		s.device(&status.GPUs[i])
	}
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
	do := g.Note
	if do == "" {
		do = "another source may tell: --gpu nvml on the GPU's machine, or a DCGM exporter with profiling metrics"
	}
	s.missing(name, fmt.Sprintf("%s by %s, without %s", g.Name, g.Source, strings.Join(absent, ", ")), do)
}
