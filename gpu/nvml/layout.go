//go:build linux && (amd64 || arm64) && !static

package nvml

// The structures of nvml.h that cross the boundary to the driver. A test holds their sizes.

type (
	deviceHandle uintptr // nvmlDevice_t
	gpmSample    uintptr // nvmlGpmSample_t; 0: none
)

type utilization struct{ gpu, memory uint32 } // nvmlUtilization_t, percent

// memoryV1 is nvmlMemory_t, in bytes.
type memoryV1 struct{ total, free, used uint64 }

// memoryV2 is nvmlMemory_v2_t. What the driver reserves does not count as used.
type memoryV2 struct {
	version                     uint32
	total, reserved, free, used uint64
}

const memoryV2Version = 40 | 2<<24 // NVML_STRUCT_VERSION(Memory, 2): the size, and the version in the top byte

// gpmSupport is nvmlGpmSupport_t.
type gpmSupport struct{ version, isSupported uint32 }

// gpmMetric is nvmlGpmMetric_t.
type gpmMetric struct {
	id, code uint32
	value    float64
	_        [3]uintptr // its names and unit, which are the driver's
}

// gpmMetricMax is NVML_GPM_METRIC_MAX of the header.
const gpmMetricMax = 477

// gpmMetricsGet is nvmlGpmMetricsGet_t.
type gpmMetricsGet struct {
	version, count uint32
	older, newer   gpmSample
	metrics        [gpmMetricMax]gpmMetric
}

// gpmVersion is NVML_GPM_METRICS_GET_VERSION and NVML_GPM_SUPPORT_VERSION.
const gpmVersion = 1

// Values of nvmlClockType_t and nvmlTemperatureSensors_t.
const (
	clockSM        = 1
	clockMemory    = 2
	temperatureGPU = 0
)

// bufferSize holds any name and UUID (NVML_DEVICE_NAME_V2_BUFFER_SIZE and NVML_DEVICE_UUID_V2_BUFFER_SIZE are 96).
const bufferSize = 96
