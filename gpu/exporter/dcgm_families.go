package exporter

import (
	"math"
)

// dcgmField is what a family means, whatever its spelling.
type dcgmField int

const (
	dcgmSM dcgmField = iota // 0 to 1, as all PROF ratios
	dcgmTensor
	dcgmDRAM
	dcgmEngine      // graphics or compute engine active: a share of time
	dcgmBusy        // %, also where the family is called a ratio
	dcgmPower       // W
	dcgmPowerLimit  // W
	dcgmTemperature // °C
	dcgmClock       // MHz
	dcgmFree        // MiB
	dcgmUsed        // MiB
	dcgmReserved    // MiB
	dcgmTotal       // MiB
	dcgmOccupancy
	dcgmMemoryBusy  // %
	dcgmMemoryClock // MHz
	dcgmClockReasons
	dcgmPCIeSent // bytes/s, as all traffic, whatever its TYPE line says
	dcgmPCIeReceived
	dcgmNVLinkSent
	dcgmNVLinkReceived
)

// dcgmFamilies lists every spelling, in upper case: names before and since DCGM
// 4.6, and those of the exporter's 1.x. Kind and unit belong to the field: the TYPE
// line is whatever the counters file says.
var dcgmFamilies = map[string]dcgmField{
	"DCGM_FI_PROF_SM_ACTIVE":             dcgmSM,
	"DCGM_FI_PROF_SM_UTIL_RATIO":         dcgmSM,
	"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE":    dcgmTensor,
	"DCGM_FI_PROF_TENSOR_UTIL_RATIO":     dcgmTensor,
	"DCGM_FI_PROF_DRAM_ACTIVE":           dcgmDRAM,
	"DCGM_FI_PROF_DRAM_UTIL_RATIO":       dcgmDRAM,
	"DCGM_FI_PROF_GR_ENGINE_ACTIVE":      dcgmEngine,
	"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO":  dcgmEngine,
	"DCGM_FI_DEV_GPU_UTIL":               dcgmBusy,
	"DCGM_FI_DEV_GPU_UTIL_RATIO":         dcgmBusy,
	"DCGM_GPU_UTILIZATION":               dcgmBusy,
	"DCGM_FI_DEV_POWER_USAGE":            dcgmPower,
	"DCGM_FI_DEV_BOARD_POWER_WATTS":      dcgmPower,
	"DCGM_POWER_USAGE":                   dcgmPower,
	"DCGM_FI_DEV_ENFORCED_POWER_LIMIT":   dcgmPowerLimit,
	"DCGM_FI_DEV_POWER_MGMT_LIMIT":       dcgmPowerLimit,
	"DCGM_FI_DEV_GPU_TEMP":               dcgmTemperature,
	"DCGM_FI_DEV_GPU_TEMP_CELSIUS":       dcgmTemperature,
	"DCGM_GPU_TEMP":                      dcgmTemperature,
	"DCGM_FI_DEV_SM_CLOCK":               dcgmClock,
	"DCGM_SM_CLOCK":                      dcgmClock,
	"DCGM_FI_DEV_FB_FREE":                dcgmFree,
	"DCGM_FB_FREE":                       dcgmFree,
	"DCGM_FI_DEV_FB_USED":                dcgmUsed,
	"DCGM_FB_USED":                       dcgmUsed,
	"DCGM_FI_DEV_FB_RESERVED":            dcgmReserved,
	"DCGM_FI_DEV_FB_TOTAL":               dcgmTotal,
	"DCGM_FI_PROF_SM_OCCUPANCY":          dcgmOccupancy,
	"DCGM_FI_PROF_SM_OCCUPANCY_RATIO":    dcgmOccupancy,
	"DCGM_FI_DEV_MEM_COPY_UTIL":          dcgmMemoryBusy,
	"DCGM_FI_DEV_MEM_COPY_UTIL_RATIO":    dcgmMemoryBusy,
	"DCGM_MEM_COPY_UTILIZATION":          dcgmMemoryBusy,
	"DCGM_FI_DEV_MEM_CLOCK":              dcgmMemoryClock,
	"DCGM_MEMORY_CLOCK":                  dcgmMemoryClock,
	"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": dcgmClockReasons,
	"DCGM_FI_DEV_CLOCKS_EVENT_REASONS":   dcgmClockReasons,
	"DCGM_FI_PROF_PCIE_TX_BYTES":         dcgmPCIeSent,
	"DCGM_FI_PROF_PCIE_RX_BYTES":         dcgmPCIeReceived,
	"DCGM_FI_PROF_NVLINK_TX_BYTES":       dcgmNVLinkSent,
	"DCGM_FI_PROF_NVLINK_RX_BYTES":       dcgmNVLinkReceived,
}

// xidFamilies hold the last fault of a GPU; the value stays until the exporter
// restarts.
var xidFamilies = map[string]bool{
	"DCGM_FI_DEV_XID_ERRORS": true, "DCGM_FI_DEV_XID_ERROR": true, "DCGM_XID_ERRORS": true,
}

// isBlank recognises the values by which DCGM says "no data" (dcgm_fields.h:
// int32, double and int64 blanks), and what is no number at all. As a float64 all
// int64 blanks are 2⁶³.
func isBlank(v float64) bool {
	return math.IsNaN(v) || math.IsInf(v, 0) ||
		v >= 2147483632 && v <= 2147483635 ||
		v >= 140737488355328 && v <= 140737488355331 ||
		v >= 1<<63
}
