package gpu

import (
	"cmp"
	"strings"

	"sonde/probe/opt"
)

// Field is one quantity of a reading, for people.
type Field struct {
	Name   string
	Value  opt.Float
	Unit   string // "W", "bytes", "bytes/s", "Hz", "°C"; "" for a share, 0 to 1
	Source string // what the source itself calls it; "" if it never reports it
}

// ViaPrometheus ends the Source of a reading that a Prometheus server has scraped.
const ViaPrometheus = "-prometheus"

// Sources of a Reading, besides SourceNVML and SourceSMI.
const (
	SourceGPM            = "nvml-gpm"
	SourceDCGM           = "dcgm"
	SourceNVIDIAExporter = "nvidia_gpu_exporter"
	SourceAMD            = "amd"
	SourceAMDSMI         = "amd-smi" // also for rocm-smi
)

// quantity is one number of a Reading, with the names that each source has for it.
type quantity struct {
	name, unit string
	value      func(*Reading) *opt.Float
	kind       meaning

	gpm, nvml, smi            string
	dcgm, nvidiaExporter, amd []string // every spelling, the usual one first
	amdSMI                    []string // on the page of amd-smi metric --json
}

// meaning is what kind of number a quantity is, besides its unit.
type meaning int

const (
	measured  meaning = iota // any number from 0 up
	timeShare                // a whole percentage in most sources
	positive                 // 0 is not a value: no GPU that answers draws 0 W
)

// callMemory is the call of NVML for all of a GPU's memory.
const callMemory = "nvmlDeviceGetMemoryInfo"

var quantities = []quantity{
	{name: "SM active", value: func(r *Reading) *opt.Float { return &r.SM },
		gpm: "GPM SM_UTIL", smi: "dmon smutil", dcgm: []string{"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO"},
		nvidiaExporter: []string{"mig_sm_activity_ratio"}, amd: []string{"gpu_prof_sm_active"}},
	{name: "DRAM bandwidth", value: func(r *Reading) *opt.Float { return &r.DRAM },
		gpm: "GPM DRAM_BW_UTIL", smi: "dmon dram", dcgm: []string{"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO"}},
	{name: "tensor active", value: func(r *Reading) *opt.Float { return &r.Tensor },
		gpm: "GPM ANY_TENSOR_UTIL", smi: "dmon mmaact", dcgm: []string{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO"},
		nvidiaExporter: []string{"mig_tensor_activity_ratio"}, amd: []string{"gpu_prof_tensor_active_percent"}},
	{name: "SM occupancy", value: func(r *Reading) *opt.Float { return &r.Occupancy },
		gpm: "GPM SM_OCCUPANCY", smi: "dmon smocc", dcgm: []string{"DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO"},
		nvidiaExporter: []string{"mig_sm_occupancy_ratio"}, amd: []string{"gpu_prof_occupancy_percent"}},
	{name: "busy time", value: func(r *Reading) *opt.Float { return &r.Busy }, kind: timeShare,
		nvml: "nvmlDeviceGetUtilizationRates().gpu", smi: "utilization.gpu",
		dcgm:           []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_GPU_UTILIZATION"},
		nvidiaExporter: []string{"utilization_gpu_ratio"}, amd: []string{"gpu_gfx_activity"}, amdSMI: []string{"usage.gfx_activity"}},
	{name: "memory busy time", value: func(r *Reading) *opt.Float { return &r.MemBusy }, kind: timeShare,
		nvml: "nvmlDeviceGetUtilizationRates().memory", smi: "utilization.memory",
		dcgm:           []string{"DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL_RATIO", "DCGM_MEM_COPY_UTILIZATION"},
		nvidiaExporter: []string{"utilization_memory_ratio"}, amd: []string{"gpu_umc_activity"}, amdSMI: []string{"usage.umc_activity"}},
	{name: "memory used", unit: "bytes", value: func(r *Reading) *opt.Float { return &r.MemUsed },
		nvml: callMemory, smi: "memory.used", dcgm: []string{"DCGM_FI_DEV_FB_USED", "DCGM_FB_USED"},
		nvidiaExporter: []string{"memory_used_bytes"}, amd: []string{"gpu_used_vram"}, amdSMI: []string{"mem_usage.used_vram"}},
	{name: "memory", unit: "bytes", value: func(r *Reading) *opt.Float { return &r.MemTotal }, kind: positive,
		nvml: callMemory, smi: "memory.total", dcgm: []string{"DCGM_FI_DEV_FB_TOTAL"},
		nvidiaExporter: []string{"memory_total_bytes"}, amd: []string{"gpu_total_vram"}, amdSMI: []string{"mem_usage.total_vram"}},
	{name: "power", unit: "W", value: func(r *Reading) *opt.Float { return &r.Power }, kind: positive,
		nvml: "nvmlDeviceGetPowerUsage", smi: "power.draw",
		dcgm:           []string{"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", "DCGM_POWER_USAGE"},
		nvidiaExporter: []string{"power_draw_watts", "power_draw_average_watts", "power_draw_instant_watts"},
		amd:            []string{"gpu_package_power", "gpu_average_package_power", "gpu_power_usage"}, amdSMI: []string{"power.socket_power"}}, // by generation
	{name: "power limit", unit: "W", value: func(r *Reading) *opt.Float { return &r.PowerLimit }, kind: positive,
		nvml: "nvmlDeviceGetEnforcedPowerLimit", smi: "enforced.power.limit",
		dcgm:           []string{"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_POWER_MGMT_LIMIT"},
		nvidiaExporter: []string{"enforced_power_limit_watts", "power_limit_watts"}},
	{name: "temperature", unit: "°C", value: func(r *Reading) *opt.Float { return &r.Temperature },
		nvml: "nvmlDeviceGetTemperature", smi: "temperature.gpu",
		dcgm:           []string{"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "DCGM_GPU_TEMP"},
		nvidiaExporter: []string{"temperature_gpu"}, amd: []string{"gpu_junction_temperature", "gpu_edge_temperature"}, amdSMI: []string{"temperature.hotspot", "temperature.edge"}},
	{name: "SM clock", unit: "Hz", value: func(r *Reading) *opt.Float { return &r.SMClock },
		nvml: "nvmlDeviceGetClockInfo(SM)", smi: "clocks.current.sm", dcgm: []string{"DCGM_FI_DEV_SM_CLOCK", "DCGM_SM_CLOCK"},
		nvidiaExporter: []string{"clocks_current_sm_clock_hz"}, amd: []string{"gpu_clock"}, amdSMI: []string{"clock.gfx_0.clk"}},
	{name: "memory clock", unit: "Hz", value: func(r *Reading) *opt.Float { return &r.MemClock },
		nvml: "nvmlDeviceGetClockInfo(memory)", smi: "clocks.current.memory", dcgm: []string{"DCGM_FI_DEV_MEM_CLOCK", "DCGM_MEMORY_CLOCK"},
		nvidiaExporter: []string{"clocks_current_memory_clock_hz"}, amd: []string{"gpu_clock"}, amdSMI: []string{"clock.mem_0.clk"}},
	{name: "PCIe sent", unit: "bytes/s", value: func(r *Reading) *opt.Float { return &r.PCIeSent },
		gpm: "GPM PCIE_TX_PER_SEC", smi: "dmon pcitx", dcgm: []string{"DCGM_FI_PROF_PCIE_TX_BYTES"}, nvidiaExporter: []string{"pcie_throughput_tx_bytes_per_second"}},
	{name: "PCIe received", unit: "bytes/s", value: func(r *Reading) *opt.Float { return &r.PCIeReceived },
		gpm: "GPM PCIE_RX_PER_SEC", smi: "dmon pcirx", dcgm: []string{"DCGM_FI_PROF_PCIE_RX_BYTES"}, nvidiaExporter: []string{"pcie_throughput_rx_bytes_per_second"}},
	{name: "NVLink sent", unit: "bytes/s", value: func(r *Reading) *opt.Float { return &r.NVLinkSent },
		gpm: "GPM NVLINK_TOTAL_TX_PER_SEC", smi: "dmon nvltx", dcgm: []string{"DCGM_FI_PROF_NVLINK_TX_BYTES"}},
	{name: "NVLink received", unit: "bytes/s", value: func(r *Reading) *opt.Float { return &r.NVLinkReceived },
		gpm: "GPM NVLINK_TOTAL_RX_PER_SEC", smi: "dmon nvlrx", dcgm: []string{"DCGM_FI_PROF_NVLINK_RX_BYTES"}},
	{name: "bandwidth peak", unit: "bytes/s", value: func(r *Reading) *opt.Float { return &r.BandwidthPeak }, kind: positive,
		nvml: "bus width × memory clock", amd: []string{"gpu_vram_max_bandwidth"}},
}

// names are the spellings that a source has for the quantity. An exporter that is read
// through Prometheus has the same ones.
func (q *quantity) names(source string) []string {
	switch strings.TrimSuffix(source, ViaPrometheus) {
	case SourceGPM:
		return []string{cmp.Or(q.gpm, q.nvml)}
	case SourceNVML:
		return []string{q.nvml}
	case SourceSMI:
		return []string{q.smi}
	case SourceDCGM:
		return q.dcgm
	case SourceNVIDIAExporter:
		return q.nvidiaExporter
	case SourceAMD:
		return q.amd
	case SourceAMDSMI:
		return q.amdSMI
	}
	return nil
}

// Spellings lists every name that a source has for a quantity.
func Spellings(source string) (all []string) {
	for i := range quantities {
		all = append(all, quantities[i].names(source)...)
	}
	return all
}

// Percentages lists the names of shares of time that an exporter writes as whole
// percentages.
func Percentages(source string) (all []string) {
	for i := range quantities {
		if q := &quantities[i]; q.kind == timeShare && source != SourceNVIDIAExporter {
			all = append(all, q.names(source)...)
		}
	}
	return all
}

// Fill sets every quantity for which the reading's source has a value, under any of its
// spellings.
func (r *Reading) Fill(value func(spelling string) opt.Float) {
	for i := range quantities {
		q := &quantities[i]
		for _, name := range q.names(r.Source) {
			if v := value(name); v.OK && v.V >= 0 {
				*q.value(r) = q.clean(q.convert(v, r.Source))
				break
			}
		}
	}
}

// convert turns a source's unit into that of a Reading. Most count MiB, MHz and per cent of
// time; NVML has milliwatts, the counters of nvidia-smi are per cent and MiB/s, and those of
// AMD's exporter per cent and GB/s.
func (q *quantity) convert(v opt.Float, source string) opt.Float {
	amd, smi := source == SourceAMD, source == SourceSMI
	switch {
	case source == SourceNVIDIAExporter:
		return v
	case q.unit == "" && (q.kind == timeShare || amd || smi):
		return opt.Of(v.V / 100)
	case q.unit == "W" && (source == SourceNVML || source == SourceGPM):
		return v.Scale(1e-3)
	case q.unit == "bytes" || q.unit == "bytes/s" && smi:
		return v.Scale(1 << 20)
	case q.unit == "Hz":
		return v.Scale(1e6)
	case q.unit == "bytes/s" && amd:
		return v.Scale(1e9)
	}
	return v
}

// clean drops impossible values.
func (q *quantity) clean(v opt.Float) opt.Float {
	if q.kind == positive && v.V <= 0 {
		return opt.Float{}
	}
	return v
}

// Fields lists every quantity of a reading with what its source calls it.
func (r *Reading) Fields() []Field {
	fields := make([]Field, len(quantities))
	for i := range quantities {
		q := &quantities[i]
		fields[i] = Field{Name: q.name, Value: *q.value(r), Unit: q.unit}
		if names := q.names(r.Source); len(names) > 0 {
			fields[i].Source, _, _ = strings.Cut(names[0], "(")
		}
		switch {
		case r.MemShared && q.nvml == callMemory:
			fields[i].Source = "/proc/meminfo"
		case r.Parent != "" && q.name == "busy time" && r.Source == SourceGPM:
			fields[i].Source = "GPM GRAPHICS_UTIL"
		case q.name == "memory" && strings.HasPrefix(r.Source, SourceDCGM):
			fields[i].Source = "DCGM_FI_DEV_FB_USED + _FREE + _RESERVED" // the total is not in the default list
		}
	}
	return fields
}
