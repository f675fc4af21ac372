package gpu

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/prom"
)

// amdFamilies are those of AMD's device-metrics-exporter that are used here, in
// its own units. It may be told to put a word in front of all of them.
var amdFamilies = []string{
	"gpu_gfx_activity", "gpu_umc_activity", // %, shares of time
	"gpu_prof_sm_active", "gpu_prof_occupancy_percent", "gpu_prof_tensor_active_percent", // %, off by default
	"gpu_package_power", "gpu_average_package_power", "gpu_power_usage", // W, by generation
	"gpu_junction_temperature", "gpu_edge_temperature", // °C
	"gpu_clock",                       // MHz, by clock_type
	"gpu_used_vram", "gpu_total_vram", // called MB, and MiB in fact: an MI300X of 192 GiB has 196592
	"gpu_vram_max_bandwidth", // GB/s
	"gpu_health",             // 0: unhealthy
}

func amdFamily(published string) (string, bool) {
	for _, f := range amdFamilies {
		if hasFamily(published, f) {
			return f, true
		}
	}
	return "", false
}

func isAMD(family string) bool {
	_, ok := amdFamily(family)
	return ok
}

// readAMD reads a page of the exporter. Every series names its GPU by gpu_id.
func readAMD(p prom.Page, _ func() (uint64, uint64, bool)) []Reading {
	clocks := amdClocks(p)
	devices := collectDevices(p, amdFamily, func(name string, labels map[string]string) string {
		if name == "gpu_clock" {
			return "" // several of a GPU: see amdClocks
		}
		return amdID(labels)
	})
	var readings []Reading
	for _, id := range slices.SortedFunc(maps.Keys(devices), func(a, b string) int { return compareAMD(devices[a], devices[b]) }) {
		readings = append(readings, amdReading(id, devices[id], clocks[id]))
	}
	return readings
}

func compareAMD(a, b *exported) int {
	by := func(label string) int { return cmp.Compare(number(a.labels[label]), number(b.labels[label])) }
	return cmp.Or(cmp.Compare(a.labels["hostname"], b.labels["hostname"]), by("gpu_id"), by("gpu_partition_id"))
}

// amdID is the serial number, with the partition of a GPU that is split; else host
// and number. "" is no GPU.
func amdID(labels map[string]string) string {
	gpu := clean(labels["gpu_id"])
	if gpu == "" {
		return ""
	}
	id := clean(labels["serial_number"])
	if id == "" || strings.EqualFold(id, "N/A") {
		id = clean(labels["hostname"]) + "/" + gpu
	}
	if amdSplit(labels) {
		id += "/" + cmp.Or(clean(labels["gpu_partition_id"]), "0")
	}
	return id
}

// amdSplit tells whether a GPU shows as several: SPX is the mode of one.
func amdSplit(labels map[string]string) bool {
	mode := labels["gpu_compute_partition_type"]
	return number(labels["gpu_partition_id"]) > 0 || mode != "" && !strings.EqualFold(mode, "spx") && !strings.EqualFold(mode, "none")
}

// amdClocks are the fastest clock of the shaders and of the memory, in MHz.
func amdClocks(p prom.Page) map[string]map[string]opt.Float {
	found := map[string]map[string]opt.Float{}
	for _, published := range p.Names() {
		if !hasFamily(published, "gpu_clock") {
			continue
		}
		for _, s := range p.Samples(published) {
			id, kind := amdID(s.Labels), strings.ToLower(s.Labels["clock_type"])
			if id == "" || isBlank(s.Value) || s.Value < 0 {
				continue
			}
			if found[id] == nil {
				found[id] = map[string]opt.Float{}
			}
			if known := found[id][kind]; !known.OK || s.Value > known.V {
				found[id][kind] = opt.Of(s.Value)
			}
		}
	}
	return found
}

func amdReading(id string, d *exported, clocks map[string]opt.Float) Reading {
	v := func(names ...string) opt.Float { return firstOf(d.values, names...) }
	r := Reading{
		ID: id, Index: max(0, number(d.labels["gpu_id"])), Name: amdName(d.labels), Source: "amd",
		SM: ratio(v("gpu_prof_sm_active")), Occupancy: ratio(v("gpu_prof_occupancy_percent")), Tensor: ratio(v("gpu_prof_tensor_active_percent")),
		Busy: atMost(ratio(v("gpu_gfx_activity")), 1), MemBusy: atMost(ratio(v("gpu_umc_activity")), 1),
		MemUsed: v("gpu_used_vram").Scale(mib), MemTotal: positive(v("gpu_total_vram")).Scale(mib),
		Power:         positive(v("gpu_package_power", "gpu_average_package_power", "gpu_power_usage")),
		Temperature:   positive(v("gpu_junction_temperature", "gpu_edge_temperature")),
		SMClock:       clocks["system"].Scale(1e6),
		MemClock:      clocks["memory"].Scale(1e6),
		BandwidthPeak: positive(v("gpu_vram_max_bandwidth")).Scale(1e9),
	}
	healthy, told := d.values["gpu_health"]
	return amdNotes(r, d.labels, told && healthy == 0)
}

// amdNotes says what is missing, and drops zeros that no GPU measured: those of
// the further partitions, and of parts without the counter.
func amdNotes(r Reading, labels map[string]string, unhealthy bool) Reading {
	var health, part string
	if unhealthy {
		health = "the exporter calls this GPU unhealthy"
	}
	if number(labels["gpu_partition_id"]) > 0 {
		part = "power, activity and temperature: see partition 0"
		r.Busy, r.MemBusy, r.Power, r.Temperature = opt.Float{}, opt.Float{}, opt.Float{}, opt.Float{}
	}
	if r.SM.OK && r.SM.V == 0 && r.Busy.V > 0 {
		r.SM = opt.Float{} // Radeon: the counter stays at 0
	}
	why := "SM is the share of vector instructions; DRAM: this exporter has no share of the bandwidth"
	if !r.SM.OK {
		why = "SM: switch gpu_prof_ metrics on in the exporter's configuration; DRAM: this exporter has none"
	}
	r.Note = joinNotes(health, part, why)
	return r
}

// amdName is the model as far as the exporter tells: some cards give the number of
// their board only.
func amdName(labels map[string]string) string {
	name := clean(cmp.Or(labels["card_series"], labels["card_model"]))
	switch {
	case name == "":
		name = "AMD GPU"
	case !strings.Contains(strings.ToLower(name), "amd"):
		name = "AMD " + name
	}
	if amdSplit(labels) {
		name += " " + strings.ToUpper(clean(labels["gpu_compute_partition_type"])) + " " + clean(labels["gpu_partition_id"])
	}
	return name
}
