package exporter

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// amdFamilies are those of AMD's device-metrics-exporter that are used here. It can be
// configured to put a word in front of all of them. Its memory is called MB, and is
// MiB in fact: an MI300X of 192 GiB has 196592.
var amdFamilies = append(slices.Compact(gpu.Spellings(gpu.SourceAMD)), amdHealth)

const amdHealth = "gpu_health" // 0: unhealthy

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
func readAMD(p prom.Page, _ common.HostMemory) []gpu.Reading {
	clocks := amdClocks(p)
	devices := collectDevices(p, amdFamily, func(name string, labels map[string]string) string {
		if name == "gpu_clock" {
			return "" // several of a GPU: see amdClocks
		}
		return amdID(labels)
	})
	var readings []gpu.Reading
	for _, id := range slices.SortedFunc(maps.Keys(devices), func(a, b string) int { return compareAMD(devices[a], devices[b]) }) {
		readings = append(readings, amdReading(id, devices[id], clocks[id]))
	}
	return readings
}

func compareAMD(a, b *exported) int {
	by := func(label string) int {
		return cmp.Compare(common.Number(a.labels[label]), common.Number(b.labels[label]))
	}
	return cmp.Or(cmp.Compare(a.labels["hostname"], b.labels["hostname"]), by("gpu_id"), by("gpu_partition_id"))
}

// amdID is the serial number, with the partition of a GPU that is split; else host
// and number. "" is not a GPU.
func amdID(labels map[string]string) string {
	number := common.Clean(labels["gpu_id"])
	if number == "" {
		return ""
	}
	id := common.Clean(labels["serial_number"])
	if id == "" || strings.EqualFold(id, "N/A") {
		id = common.Clean(labels["hostname"]) + "/" + number
	}
	if amdSplit(labels) {
		id += "/" + cmp.Or(common.Clean(labels["gpu_partition_id"]), "0")
	}
	return id
}

// amdSplit reports whether a GPU shows as several: SPX is the mode of one.
func amdSplit(labels map[string]string) bool {
	mode := labels["gpu_compute_partition_type"]
	return common.Number(labels["gpu_partition_id"]) > 0 || mode != "" && !strings.EqualFold(mode, "spx") && !strings.EqualFold(mode, "none")
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

func amdReading(id string, d *exported, clocks map[string]opt.Float) gpu.Reading {
	r := gpu.Reading{ID: id, Index: max(0, common.Number(d.labels["gpu_id"])), Name: amdName(d.labels), Source: gpu.SourceAMD}
	r.Fill(func(name string) opt.Float { return firstOf(d.values, name) })
	r.Temperature = common.Positive(r.Temperature)
	r.SMClock, r.MemClock = clocks["system"].Scale(1e6), clocks["memory"].Scale(1e6)
	healthy, reported := d.values[amdHealth]
	return amdNotes(r, d.labels, reported && healthy == 0)
}

// amdNotes says what is missing, and drops zeros that no GPU measured: those of
// the further partitions, and of parts without the counter.
func amdNotes(r gpu.Reading, labels map[string]string, unhealthy bool) gpu.Reading {
	var health, part string
	if unhealthy {
		health = "the exporter reports this GPU as unhealthy"
	}
	if common.Number(labels["gpu_partition_id"]) > 0 {
		part = "power, activity and temperature: see partition 0"
		r.Busy, r.MemBusy, r.Power, r.Temperature = opt.Float{}, opt.Float{}, opt.Float{}, opt.Float{}
	}
	if r.SM.OK && r.SM.V == 0 && r.Busy.V > 0 {
		r.SM = opt.Float{} // Radeon: the counter stays at 0
	}
	why := "SM is the share of vector instructions; DRAM: this exporter has no share of the bandwidth"
	if !r.SM.OK {
		why = "SM: enable the gpu_prof_ metrics in the exporter's configuration; DRAM: this exporter has none"
	}
	r.Note = common.Join(health, part, why)
	return r
}

// amdName is the model as far as the exporter reports it: some cards give only the
// number of their board.
func amdName(labels map[string]string) string {
	name := common.Clean(cmp.Or(labels["card_series"], labels["card_model"]))
	switch {
	case name == "":
		name = "AMD GPU"
	case !strings.Contains(strings.ToLower(name), "amd"):
		name = "AMD " + name
	}
	if amdSplit(labels) {
		name += " " + strings.ToUpper(common.Clean(labels["gpu_compute_partition_type"])) + " " + common.Clean(labels["gpu_partition_id"])
	}
	return name
}
