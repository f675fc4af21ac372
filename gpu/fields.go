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
	Source string // what the source itself calls it; "" if it never tells
}

// fieldNames are the names that each source has for a quantity, by Reading.Source.
// An exporter read through Prometheus has the same ones.
type fieldNames struct {
	name string
	unit string
	of   func(*Reading) opt.Float

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
		"GPM SM_UTIL", "", "", "DCGM_FI_PROF_SM_ACTIVE", "mig_sm_activity_ratio", "gpu_prof_sm_active"},
	{"DRAM bandwidth", "", func(r *Reading) opt.Float { return r.DRAM },
		"GPM DRAM_BW_UTIL", "", "", "DCGM_FI_PROF_DRAM_ACTIVE", "", ""},
	{"tensor active", "", func(r *Reading) opt.Float { return r.Tensor },
		"GPM ANY_TENSOR_UTIL", "", "", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "mig_tensor_activity_ratio", "gpu_prof_tensor_active_percent"},
	{"SM occupancy", "", func(r *Reading) opt.Float { return r.Occupancy },
		"GPM SM_OCCUPANCY", "", "", "DCGM_FI_PROF_SM_OCCUPANCY", "mig_sm_occupancy_ratio", "gpu_prof_occupancy_percent"},
	{"busy time", "", func(r *Reading) opt.Float { return r.Busy },
		callUtilisation, callUtilisation, "utilization.gpu", "DCGM_FI_DEV_GPU_UTIL", "utilization_gpu_ratio", "gpu_gfx_activity"},
	{"memory busy time", "", func(r *Reading) opt.Float { return r.MemBusy },
		callUtilisation, callUtilisation, "utilization.memory", "DCGM_FI_DEV_MEM_COPY_UTIL", "utilization_memory_ratio", "gpu_umc_activity"},
	{"memory used", "bytes", func(r *Reading) opt.Float { return r.MemUsed },
		callMemory, callMemory, "memory.used", "DCGM_FI_DEV_FB_USED", "memory_used_bytes", "gpu_used_vram"},
	{"memory", "bytes", func(r *Reading) opt.Float { return r.MemTotal },
		callMemory, callMemory, "memory.total", "DCGM_FI_DEV_FB_USED + _FREE + _RESERVED", "memory_total_bytes", "gpu_total_vram"},
	{"power", "W", func(r *Reading) opt.Float { return r.Power },
		callPower, callPower, "power.draw", "DCGM_FI_DEV_POWER_USAGE", "power_draw_watts", "gpu_package_power"},
	{"power limit", "W", func(r *Reading) opt.Float { return r.PowerLimit },
		callPowerLimit, callPowerLimit, "enforced.power.limit", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "enforced_power_limit_watts", ""},
	{"temperature", "°C", func(r *Reading) opt.Float { return r.Temperature },
		callTemperature, callTemperature, "temperature.gpu", "DCGM_FI_DEV_GPU_TEMP", "temperature_gpu", "gpu_junction_temperature"},
	{"SM clock", "Hz", func(r *Reading) opt.Float { return r.SMClock },
		callClock, callClock, "clocks.current.sm", "DCGM_FI_DEV_SM_CLOCK", "clocks_current_sm_clock_hz", "gpu_clock"},
	{"memory clock", "Hz", func(r *Reading) opt.Float { return r.MemClock },
		callClock, callClock, "clocks.current.memory", "DCGM_FI_DEV_MEM_CLOCK", "clocks_current_memory_clock_hz", "gpu_clock"},
	{"PCIe sent", "bytes/s", func(r *Reading) opt.Float { return r.PCIeSent },
		"GPM PCIE_TX_PER_SEC", "", "", "DCGM_FI_PROF_PCIE_TX_BYTES", "pcie_throughput_tx_bytes_per_second", ""},
	{"PCIe received", "bytes/s", func(r *Reading) opt.Float { return r.PCIeReceived },
		"GPM PCIE_RX_PER_SEC", "", "", "DCGM_FI_PROF_PCIE_RX_BYTES", "pcie_throughput_rx_bytes_per_second", ""},
	{"NVLink sent", "bytes/s", func(r *Reading) opt.Float { return r.NVLinkSent },
		"GPM NVLINK_TOTAL_TX_PER_SEC", "", "", "DCGM_FI_PROF_NVLINK_TX_BYTES", "", ""},
	{"NVLink received", "bytes/s", func(r *Reading) opt.Float { return r.NVLinkReceived },
		"GPM NVLINK_TOTAL_RX_PER_SEC", "", "", "DCGM_FI_PROF_NVLINK_RX_BYTES", "", ""},
	{"bandwidth peak", "bytes/s", func(r *Reading) opt.Float { return r.BandwidthPeak },
		busTimesClock, busTimesClock, "", "", "", "gpu_vram_max_bandwidth"},
}

// from is the name that a source has for the quantity.
func (f *fieldNames) from(source string) string {
	switch strings.TrimSuffix(source, viaPrometheus) {
	case "nvml-gpm":
		return f.gpm
	case "nvml":
		return f.nvml
	case "nvidia-smi":
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
		fields[i] = Field{Name: f.name, Value: f.of(r), Unit: f.unit, Source: f.from(r.Source)}
		if r.MemShared && f.nvml == callMemory {
			fields[i].Source = "/proc/meminfo"
		}
		if r.Parent != "" && f.name == "busy time" && r.Source == "nvml-gpm" {
			fields[i].Source = "GPM GRAPHICS_UTIL"
		}
	}
	return fields
}
