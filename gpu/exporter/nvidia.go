package exporter

import (
	"cmp"
	"fmt"
	"slices"
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

func isNvidiaExporter(family string) bool { return strings.HasPrefix(family, nvidiaExporterPrefix) }

// readNvidiaExporter reads a page of either of its back ends. Names stand in an
// information series only, and are joined by UUID.
func readNvidiaExporter(p prom.Page, hostMemory common.HostMemory) []gpu.Reading {
	x := nvidiaPage{info: infoBy(p, "gpu_info", "uuid"), mig: infoBy(p, "mig_info", "uuid", "gpu_instance_id"), xids: worstXids(p)}
	if collectionFailed(p) {
		x.trouble = "the exporter's last collection failed"
	}
	devices := collectDevices(p, func(family string) (string, bool) {
		return strings.TrimPrefix(family, nvidiaExporterPrefix), isNvidiaExporter(family)
	}, func(_ string, labels map[string]string) string {
		return joinID(labels["uuid"], labels["gpu_instance_id"])
	})
	var readings []gpu.Reading
	for id, d := range devices {
		if r, ok := x.reading(id, d, hostMemory); ok {
			readings = append(readings, r)
		}
	}
	slices.SortFunc(readings, func(a, b gpu.Reading) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return readings
}

// nvidiaPage is what a page says besides the values.
type nvidiaPage struct {
	info, mig map[string]map[string]string // labels of the information series, by device
	xids      map[string]int
	trouble   string
}

func (x nvidiaPage) reading(id string, d *exported, hostMemory common.HostMemory) (gpu.Reading, bool) {
	uuid, instance, _ := strings.Cut(id, "/")
	if uuid == "" {
		return gpu.Reading{}, false
	}
	about := x.info[uuid]
	r := gpu.Reading{ID: fullUUID(uuid), Name: common.Clean(about["name"]), Source: gpu.SourceNVIDIAExporter}
	r.Index = max(0, common.Number(cmp.Or(about["index"], wholeNumber(d.values, "index"))))
	if instance != "" {
		r.Parent, r.ID = r.ID, r.ID+"/"+common.Clean(instance)
		r.Name = joinName(r.Name, common.Clean(x.mig[id]["profile"]))
		x.instance(&r, d)
		return r, true
	}
	return x.whole(r, d, x.xids[uuid], hostMemory), true
}

func (x nvidiaPage) whole(r gpu.Reading, d *exported, xid int, hostMemory common.HostMemory) gpu.Reading {
	v := func(names ...string) opt.Float { return firstOf(d.values, names...) }
	r.Fill(func(name string) opt.Float { return v(name) })
	r.Lost = common.NeedsReset(xid) && !r.Busy.OK && !r.Power.OK && !r.Temperature.OK
	partitioned := v("mig_mode_current").V == 1
	why := "SM and DRAM: this exporter has none for a whole GPU; dcgm-exporter with profiling metrics has"
	if partitioned {
		r.Busy, r.MemBusy = opt.Float{}, opt.Float{}
		why = "utilisation n/a (MIG); SM: see the MIG instances"
	}
	memory := common.ShareMemory(&r, hostMemory)
	slowed := common.SlowNote(v("clocks_event_reasons_active", "clocks_throttle_reasons_active"))
	r.Note = common.Join(common.XidNote(xid, "", r.Lost), slowed, x.trouble, why, memory)
	if r.Lost {
		r.Note = common.XidNote(xid, "", true)
	}
	return r
}

// instance is a part of a GPU. Power, clocks and temperature are the whole one's.
func (x nvidiaPage) instance(r *gpu.Reading, d *exported) {
	v := func(name string) opt.Float { return firstOf(d.values, "mig_"+strings.TrimPrefix(name, "mig_")) }
	r.Fill(v)
	r.Busy = v("graphics_activity_ratio")
	r.Note = common.Join(x.trouble, "DRAM: this exporter has none")
	if !r.SM.OK {
		r.Note = common.Join(x.trouble, "SM and DRAM: this exporter has none for this instance")
	}
}

// fullUUID returns the identity that the driver and DCGM use; the exporter drops the
// kind in front of it.
func fullUUID(uuid string) string {
	if strings.HasPrefix(uuid, "GPU-") {
		return common.Clean(uuid)
	}
	return "GPU-" + common.Clean(uuid)
}

// infoBy collects the labels of an information series, by the labels that name a device.
func infoBy(p prom.Page, series string, device string, part ...string) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, s := range p.Samples(nvidiaExporterPrefix + series) {
		id := s.Labels[device]
		for _, label := range part {
			id = joinID(id, s.Labels[label])
		}
		found[id] = s.Labels
	}
	return found
}

// worstXids are the faults after which a GPU needs a reset, by UUID. The exporter
// counts them since it started.
func worstXids(p prom.Page) map[string]int {
	found := map[string]int{}
	for _, s := range p.Samples(nvidiaExporterPrefix + "xid_errors_total") {
		if xid, err := strconv.Atoi(s.Labels["xid"]); err == nil && common.NeedsReset(xid) && s.Value > 0 {
			found[s.Labels["uuid"]] = max(xid, found[s.Labels["uuid"]])
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
	for series, what := range map[string]string{"command_exit_code": "its nvidia-smi exited with code %d", "nvml_return_code": "its NVML returned %d"} {
		for _, s := range p.Samples(nvidiaExporterPrefix + series) {
			if s.Value != 0 && !isBlank(s.Value) {
				text := fmt.Sprintf(what, int(s.Value))
				if c := nvml.Code(s.Value); c.Known() {
					text += ": " + c.Error()
				}
				return text
			}
		}
	}
	if collectionFailed(p) {
		return "its last collection failed"
	}
	return ""
}

// wholeNumber formats a value that is a whole number, "" if there is none.
func wholeNumber(values map[string]float64, name string) string {
	if v, ok := values[name]; ok && v >= 0 && v < 1e6 {
		return strconv.Itoa(int(v))
	}
	return ""
}
