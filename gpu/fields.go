package gpu

import (
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

// fieldNames are the names that each source has for a quantity, by Reading.Source.
// An exporter read through Prometheus has the same ones.
type fieldNames struct {
	name  string
	unit  string
	value func(*Reading) opt.Float

	sourceNames
}

// sourceNames are the names of one quantity; "" where a source does not report it.
type sourceNames struct {
	gpm, nvml, smi, dcgm, nvidiaExporter, amd string
}

// Names that NVML has with and without GPM.
const (
	callUtilisation = "nvmlDeviceGetUtilizationRates"
	callClock       = "nvmlDeviceGetClockInfo"
	callMemory      = "nvmlDeviceGetMemoryInfo"
	callPower       = "nvmlDeviceGetPowerUsage"
	callPowerLimit  = "nvmlDeviceGetEnforcedPowerLimit"
	callTemperature = "nvmlDeviceGetTemperature"
	busTimesClock   = "bus width × memory clock"
)

var fieldTable = []fieldNames{
	{"SM active", "", func(r *Reading) opt.Float { return r.SM },
		sourceNames{gpm: "GPM SM_UTIL", dcgm: "DCGM_FI_PROF_SM_ACTIVE", nvidiaExporter: "mig_sm_activity_ratio", amd: "gpu_prof_sm_active"}},
	{"DRAM bandwidth", "", func(r *Reading) opt.Float { return r.DRAM },
		sourceNames{gpm: "GPM DRAM_BW_UTIL", dcgm: "DCGM_FI_PROF_DRAM_ACTIVE"}},
	{"tensor active", "", func(r *Reading) opt.Float { return r.Tensor },
		sourceNames{gpm: "GPM ANY_TENSOR_UTIL", dcgm: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", nvidiaExporter: "mig_tensor_activity_ratio", amd: "gpu_prof_tensor_active_percent"}},
	{"SM occupancy", "", func(r *Reading) opt.Float { return r.Occupancy },
		sourceNames{gpm: "GPM SM_OCCUPANCY", dcgm: "DCGM_FI_PROF_SM_OCCUPANCY", nvidiaExporter: "mig_sm_occupancy_ratio", amd: "gpu_prof_occupancy_percent"}},
	{"busy time", "", func(r *Reading) opt.Float { return r.Busy },
		sourceNames{gpm: callUtilisation, nvml: callUtilisation, smi: "utilization.gpu", dcgm: "DCGM_FI_DEV_GPU_UTIL", nvidiaExporter: "utilization_gpu_ratio", amd: "gpu_gfx_activity"}},
	{"memory busy time", "", func(r *Reading) opt.Float { return r.MemBusy },
		sourceNames{gpm: callUtilisation, nvml: callUtilisation, smi: "utilization.memory", dcgm: "DCGM_FI_DEV_MEM_COPY_UTIL", nvidiaExporter: "utilization_memory_ratio", amd: "gpu_umc_activity"}},
	{"memory used", "bytes", func(r *Reading) opt.Float { return r.MemUsed },
		sourceNames{gpm: callMemory, nvml: callMemory, smi: "memory.used", dcgm: "DCGM_FI_DEV_FB_USED", nvidiaExporter: "memory_used_bytes", amd: "gpu_used_vram"}},
	{"memory", "bytes", func(r *Reading) opt.Float { return r.MemTotal },
		sourceNames{gpm: callMemory, nvml: callMemory, smi: "memory.total", dcgm: "DCGM_FI_DEV_FB_USED + _FREE + _RESERVED", nvidiaExporter: "memory_total_bytes", amd: "gpu_total_vram"}},
	{"power", "W", func(r *Reading) opt.Float { return r.Power },
		sourceNames{gpm: callPower, nvml: callPower, smi: "power.draw", dcgm: "DCGM_FI_DEV_POWER_USAGE", nvidiaExporter: "power_draw_watts", amd: "gpu_package_power"}},
	{"power limit", "W", func(r *Reading) opt.Float { return r.PowerLimit },
		sourceNames{gpm: callPowerLimit, nvml: callPowerLimit, smi: "enforced.power.limit", dcgm: "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", nvidiaExporter: "enforced_power_limit_watts"}},
	{"temperature", "°C", func(r *Reading) opt.Float { return r.Temperature },
		sourceNames{gpm: callTemperature, nvml: callTemperature, smi: "temperature.gpu", dcgm: "DCGM_FI_DEV_GPU_TEMP", nvidiaExporter: "temperature_gpu", amd: "gpu_junction_temperature"}},
	{"SM clock", "Hz", func(r *Reading) opt.Float { return r.SMClock },
		sourceNames{gpm: callClock, nvml: callClock, smi: "clocks.current.sm", dcgm: "DCGM_FI_DEV_SM_CLOCK", nvidiaExporter: "clocks_current_sm_clock_hz", amd: "gpu_clock"}},
	{"memory clock", "Hz", func(r *Reading) opt.Float { return r.MemClock },
		sourceNames{gpm: callClock, nvml: callClock, smi: "clocks.current.memory", dcgm: "DCGM_FI_DEV_MEM_CLOCK", nvidiaExporter: "clocks_current_memory_clock_hz", amd: "gpu_clock"}},
	{"PCIe sent", "bytes/s", func(r *Reading) opt.Float { return r.PCIeSent },
		sourceNames{gpm: "GPM PCIE_TX_PER_SEC", dcgm: "DCGM_FI_PROF_PCIE_TX_BYTES", nvidiaExporter: "pcie_throughput_tx_bytes_per_second"}},
	{"PCIe received", "bytes/s", func(r *Reading) opt.Float { return r.PCIeReceived },
		sourceNames{gpm: "GPM PCIE_RX_PER_SEC", dcgm: "DCGM_FI_PROF_PCIE_RX_BYTES", nvidiaExporter: "pcie_throughput_rx_bytes_per_second"}},
	{"NVLink sent", "bytes/s", func(r *Reading) opt.Float { return r.NVLinkSent },
		sourceNames{gpm: "GPM NVLINK_TOTAL_TX_PER_SEC", dcgm: "DCGM_FI_PROF_NVLINK_TX_BYTES"}},
	{"NVLink received", "bytes/s", func(r *Reading) opt.Float { return r.NVLinkReceived },
		sourceNames{gpm: "GPM NVLINK_TOTAL_RX_PER_SEC", dcgm: "DCGM_FI_PROF_NVLINK_RX_BYTES"}},
	{"bandwidth peak", "bytes/s", func(r *Reading) opt.Float { return r.BandwidthPeak },
		sourceNames{gpm: busTimesClock, nvml: busTimesClock, amd: "gpu_vram_max_bandwidth"}},
}

// from is the name that a source has for the quantity.
func (f *fieldNames) from(source string) string {
	switch strings.TrimSuffix(source, ViaPrometheus) {
	case "nvml-gpm":
		return f.gpm
	case SourceNVML:
		return f.nvml
	case SourceSMI:
		return f.smi
	case "dcgm":
		return f.dcgm
	case "nvidia_gpu_exporter":
		return f.nvidiaExporter
	case "amd":
		return f.amd
	}
	return ""
}

// Fields lists every quantity of a reading with what its source calls it.
func (r *Reading) Fields() []Field {
	fields := make([]Field, len(fieldTable))
	for i := range fieldTable {
		f := &fieldTable[i]
		fields[i] = Field{Name: f.name, Value: f.value(r), Unit: f.unit, Source: f.from(r.Source)}
		if r.MemShared && f.nvml == callMemory {
			fields[i].Source = "/proc/meminfo"
		}
		if r.Parent != "" && f.name == "busy time" && r.Source == "nvml-gpm" {
			fields[i].Source = "GPM GRAPHICS_UTIL"
		}
	}
	return fields
}
