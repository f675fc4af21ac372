package exporter

import (
	"cmp"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// amdFamilies are the families of AMD's device-metrics-exporter that are used here. It
// calls the unit of its memory MB, but means MiB: an MI300X of 192 GiB has 196592.
var amdFamilies = append(slices.Compact(gpu.Spellings(gpu.SourceAMD)), amdHealth, amdEnergy)

const (
	amdHealth = "gpu_health" // 0: unhealthy
	amdEnergy = "gpu_energy_consumed"
)

// amdFamily accepts a family by its last words: the exporter can be configured to put
// a word in front of all of them.
func amdFamily(published string) string {
	for _, f := range amdFamilies {
		if rest, ok := strings.CutSuffix(published, f); ok && (rest == "" || strings.HasSuffix(rest, "_")) {
			return f
		}
	}
	return ""
}

// amdID is the serial number, else host and number. The partitions of a GPU are
// devices of their own.
func amdID(labels map[string]string) (whole, _ string) {
	index := label(labels, "gpu_id")
	if index == "" {
		return "", ""
	}
	id := label(labels, "serial_number")
	if id == "" || strings.EqualFold(id, "N/A") {
		id = label(labels, "hostname") + "/" + index
	}
	if amdSplit(labels) {
		id += "/" + cmp.Or(label(labels, "gpu_partition_id"), "0")
	}
	return id, ""
}

// amdSplit reports whether a GPU shows as several: SPX is the mode of one.
func amdSplit(labels map[string]string) bool {
	mode := labels["gpu_compute_partition_type"]
	return number(labels["gpu_partition_id"]) > 0 || mode != "" && !strings.EqualFold(mode, "spx") && !strings.EqualFold(mode, "none")
}

// readAMD drops zeros that no GPU measured: those of further partitions, and of parts
// without the counter.
func readAMD(_ prom.Page, d *device, _ nvml.HostMemory) gpu.Reading {
	r := d.reading(gpu.SourceAMD, amdName(d), number(d.label("gpu_id")))
	if r.Temperature.V == 0 {
		r.Temperature = opt.Float{}
	}
	r.SMClock, r.MemClock = d.first("gpu_clock system").Scale(1e6), d.first("gpu_clock memory").Scale(1e6)
	var health, part string
	if healthy := d.first(amdHealth); healthy.OK && healthy.V == 0 {
		health = "the exporter reports this GPU as unhealthy"
	}
	if number(d.label("gpu_partition_id")) > 0 {
		part = "power, activity and temperature: see partition 0"
		r.Busy, r.MemBusy, r.Power, r.Temperature = opt.Float{}, opt.Float{}, opt.Float{}, opt.Float{}
	}
	if r.SM.V == 0 && r.Busy.V > 0 {
		r.SM = opt.Float{} // Radeon: the counter stays at 0
	}
	why := "SM is the share of vector instructions; DRAM: this exporter has no share of the bandwidth"
	if !r.SM.OK {
		why = "SM: enable the gpu_prof_ metrics in the exporter's configuration; DRAM: this exporter has none"
	}
	r.Note = gpu.Join(health, part, why)
	return r
}

// amdName is the model as far as the exporter reports it: for some cards it gives only
// the board's number.
func amdName(d *device) string {
	name := gpu.AMDName(d.label("card_series", "card_model"))
	if amdSplit(d.labels) {
		name += " " + strings.ToUpper(d.label("gpu_compute_partition_type")) + " " + d.label("gpu_partition_id")
	}
	return name
}
