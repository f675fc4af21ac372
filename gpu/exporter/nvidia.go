package exporter

import (
	"fmt"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// nvidiaPrefix begins every family of nvidia_gpu_exporter. Its units are base units:
// ratios, bytes, hertz, watts.
const nvidiaPrefix = "nvidia_smi_"

func nvidiaFamily(published string) string {
	name, ok := strings.CutPrefix(published, nvidiaPrefix)
	if !ok {
		return ""
	}
	return name
}

// nvidiaID is the identity that the driver and DCGM use: the exporter drops the kind in
// front of it.
func nvidiaID(labels map[string]string) (whole, part string) {
	uuid := label(labels, "uuid")
	if uuid == "" {
		return "", ""
	}
	return "GPU-" + strings.TrimPrefix(uuid, "GPU-"), label(labels, "gpu_instance_id")
}

// readNvidia reads a device of either of the exporter's back ends. Only the information
// series, which are among the labels of the whole GPU, name it.
func readNvidia(p prom.Page, d *device, host nvml.HostMemory) gpu.Reading {
	trouble := ""
	if collectionFailed(p) {
		trouble = "the exporter's last collection failed"
	}
	whole := d.board()
	index := number(whole.label("index"))
	if v := whole.first("index"); index < 0 && v.V < 1e6 {
		index = int(v.V)
	}
	r := d.reading(gpu.SourceNVIDIAExporter, whole.label("name"), index)
	if d.whole != nil {
		nvidiaInstance(&r, d, trouble)
		return r
	}
	xid := worstXid(p, d.id)
	if r.Lost = gpu.NeedsReset(xid) && !r.Busy.OK && !r.Power.OK && !r.Temperature.OK; r.Lost {
		r.Note = gpu.XidNote(xid, "", true)
		return r
	}
	why := "SM and DRAM: this exporter has none for a whole GPU; dcgm-exporter with profiling metrics has"
	if d.first("mig_mode_current").V == 1 {
		r.Busy, r.MemBusy = opt.Float{}, opt.Float{}
		why = "utilisation n/a (MIG); SM: see the MIG instances"
	}
	slowed := r.SlowedBy(d.first("clocks_event_reasons_active", "clocks_throttle_reasons_active"))
	r.Note = gpu.Join(gpu.XidNote(xid, "", false), slowed, trouble, why, nvml.ShareMemory(&r, host))
	return r
}

// nvidiaInstance reads a part of a GPU. Power, clocks and temperature are the whole one's.
func nvidiaInstance(r *gpu.Reading, d *device, trouble string) {
	r.Fill(func(name string) opt.Float { return d.first("mig_" + strings.TrimPrefix(name, "mig_")) })
	r.Busy = d.first("mig_graphics_activity_ratio")
	r.Note = gpu.Join(trouble, "DRAM: this exporter has none")
	if !r.SM.OK {
		r.Note = gpu.Join(trouble, "SM and DRAM: this exporter has none for this instance")
	}
}

// worstXid is the fault after which a GPU needs a reset; 0 without one. The exporter
// counts them since it started.
func worstXid(p prom.Page, id string) (worst int) {
	for _, s := range p.Samples(nvidiaPrefix + "xid_errors_total") {
		whole, _ := nvidiaID(s.Labels)
		if xid := number(s.Labels["xid"]); whole == id && gpu.NeedsReset(xid) && s.Value > 0 {
			worst = max(worst, xid)
		}
	}
	return worst
}

func collectionFailed(p prom.Page) bool {
	return slices.ContainsFunc(p.Samples(nvidiaPrefix+"last_collect_success"), func(s prom.Sample) bool { return s.Value == 0 })
}

// whyNoGPUs returns the reason that a page of the exporter gives for having no GPUs;
// "" without one.
func whyNoGPUs(p prom.Page) string {
	for series, what := range map[string]string{"command_exit_code": "its nvidia-smi exited with code ", "nvml_return_code": "its NVML returned "} {
		for _, s := range p.Samples(nvidiaPrefix + series) {
			if s.Value == 0 || isBlank(s.Value) {
				continue
			}
			text := fmt.Sprint(what, int(s.Value))
			if c := nvml.Code(s.Value); c.Known() {
				text += ": " + c.Error()
			}
			return text
		}
	}
	if collectionFailed(p) {
		return "its last collection failed"
	}
	return ""
}
