package exporter

import (
	"cmp"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// nvidiaExporterPrefix begins every family of nvidia_gpu_exporter. Its units are
// base units: ratios, bytes, hertz, watts.
const nvidiaExporterPrefix = "nvidia_smi_"

func nvidiaFamily(published string) string {
	name, ok := strings.CutPrefix(published, nvidiaExporterPrefix)
	if !ok {
		return ""
	}
	return name
}

// nvidiaID is the identity that the driver and DCGM use: the exporter drops the kind in
// front of it.
func nvidiaID(_ string, labels map[string]string) string {
	uuid := label(labels, "uuid")
	if uuid == "" {
		return ""
	}
	return joinID("GPU-"+strings.TrimPrefix(uuid, "GPU-"), label(labels, "gpu_instance_id"))
}

// readNvidiaExporter reads a page of either of its back ends. Only the information
// series, whose labels d has too, name a device.
func readNvidiaExporter(p prom.Page, devices map[string]*device, hostMemory common.HostMemory) (readings []gpu.Reading) {
	trouble := ""
	if collectionFailed(p) {
		trouble = "the exporter's last collection failed"
	}
	xids := worstXids(p)
	for id, d := range devices {
		uuid, instance, _ := strings.Cut(id, "/")
		whole := cmp.Or(devices[uuid], d)
		index := common.Number(whole.label("index"))
		if v := whole.first("index"); index < 0 && v.V < 1e6 {
			index = int(v.V)
		}
		r := d.reading(gpu.SourceNVIDIAExporter, whole.label("name"), index)
		if instance != "" {
			r.Parent, r.Name = uuid, joinName(r.Name, d.label("profile"))
			nvidiaInstance(&r, d, trouble)
		} else {
			nvidiaWhole(&r, d, xids[id], trouble, hostMemory)
		}
		readings = append(readings, r)
	}
	return readings
}

func nvidiaWhole(r *gpu.Reading, d *device, xid int, trouble string, hostMemory common.HostMemory) {
	r.Lost = common.NeedsReset(xid) && !r.Busy.OK && !r.Power.OK && !r.Temperature.OK
	if r.Lost {
		r.Note = common.XidNote(xid, "", true)
		return
	}
	why := "SM and DRAM: this exporter has none for a whole GPU; dcgm-exporter with profiling metrics has"
	if d.first("mig_mode_current").V == 1 {
		r.Busy, r.MemBusy = opt.Float{}, opt.Float{}
		why = "utilisation n/a (MIG); SM: see the MIG instances"
	}
	slowed := common.SlowNote(d.first("clocks_event_reasons_active", "clocks_throttle_reasons_active"))
	r.Note = common.Join(common.XidNote(xid, "", false), slowed, trouble, why, common.ShareMemory(r, hostMemory))
}

// nvidiaInstance reads a part of a GPU. Power, clocks and temperature are the whole one's.
func nvidiaInstance(r *gpu.Reading, d *device, trouble string) {
	v := func(name string) opt.Float { return d.first("mig_" + strings.TrimPrefix(name, "mig_")) }
	r.Fill(v)
	r.Busy = v("graphics_activity_ratio")
	r.Note = common.Join(trouble, "DRAM: this exporter has none")
	if !r.SM.OK {
		r.Note = common.Join(trouble, "SM and DRAM: this exporter has none for this instance")
	}
}

// worstXids are the faults after which a GPU needs a reset, by device. The exporter
// counts them since it started.
func worstXids(p prom.Page) map[string]int {
	found := map[string]int{}
	for _, s := range p.Samples(nvidiaExporterPrefix + "xid_errors_total") {
		if xid := common.Number(s.Labels["xid"]); common.NeedsReset(xid) && s.Value > 0 {
			id := nvidiaID("", s.Labels)
			found[id] = max(xid, found[id])
		}
	}
	return found
}

func collectionFailed(p prom.Page) bool {
	for _, s := range p.Samples(nvidiaExporterPrefix + "last_collect_success") {
		if s.Value == 0 {
			return true
		}
	}
	return false
}

// whyNoGPUs returns the reason that a page of the exporter gives for having no GPUs;
// "" without one.
func whyNoGPUs(p prom.Page) string {
	for series, what := range map[string]string{"command_exit_code": "its nvidia-smi exited with code ", "nvml_return_code": "its NVML returned "} {
		for _, s := range p.Samples(nvidiaExporterPrefix + series) {
			if s.Value == 0 || isBlank(s.Value) {
				continue
			}
			text := what + strconv.Itoa(int(s.Value))
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
