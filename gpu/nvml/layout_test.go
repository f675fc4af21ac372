//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"testing"
	"unsafe"
)

// The numbers are sizeof and offsetof of NVIDIA's nvml.h (version 13), which a C compiler
// gave for 64 bits.
func TestStructuresHaveTheLayoutOfTheHeader(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"nvmlUtilization_t", unsafe.Sizeof(utilization{}), 8},
		{"nvmlUtilization_t.memory", unsafe.Offsetof(utilization{}.memory), 4},
		{"nvmlMemory_t", unsafe.Sizeof(memoryV1{}), 24},
		{"nvmlMemory_t.used", unsafe.Offsetof(memoryV1{}.used), 16},
		{"nvmlMemory_v2_t", unsafe.Sizeof(memoryV2{}), 40},
		{"nvmlMemory_v2_t.total", unsafe.Offsetof(memoryV2{}.total), 8},
		{"nvmlMemory_v2_t.used", unsafe.Offsetof(memoryV2{}.used), 32},
		{"nvmlMemory_v2", memoryV2Version, 33554472},
		{"nvmlGpmSupport_t", unsafe.Sizeof(gpmSupport{}), 8},
		{"nvmlGpmSupport_t.isSupportedDevice", unsafe.Offsetof(gpmSupport{}.isSupported), 4},
		{"nvmlGpmMetric_t", unsafe.Sizeof(gpmMetric{}), 40},
		{"nvmlGpmMetric_t.nvmlReturn", unsafe.Offsetof(gpmMetric{}.code), 4},
		{"nvmlGpmMetric_t.value", unsafe.Offsetof(gpmMetric{}.value), 8},
		{"nvmlGpmMetricsGet_t", unsafe.Sizeof(gpmMetricsGet{}), 19104},
		{"nvmlGpmMetricsGet_t.numMetrics", unsafe.Offsetof(gpmMetricsGet{}.count), 4},
		{"nvmlGpmMetricsGet_t.sample1", unsafe.Offsetof(gpmMetricsGet{}.older), 8},
		{"nvmlGpmMetricsGet_t.sample2", unsafe.Offsetof(gpmMetricsGet{}.newer), 16},
		{"nvmlGpmMetricsGet_t.metrics", unsafe.Offsetof(gpmMetricsGet{}.metrics), 24},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
}
