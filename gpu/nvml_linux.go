//go:build linux && cgo

package gpu

import (
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// openLocal reads this machine's GPUs through NVML.
func openLocal(o Options) (reader, error) {
	n, err := openNVML(&library{}, o.Interval)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// library is the driver's libnvidia-ml.so.1. The binding leaves its functions
// unresolved until the first call, and a function that the installed library
// lacks ends the process at once, past any recover and with the terminal in raw
// mode. Each function is therefore looked up before it is called; the texts of
// return codes are our own for the same reason.
type library struct {
	have map[string]bool // answers of lookups since init
}

func (l *library) init() code {
	l.have = map[string]bool{}
	if r := nvml.Init(); r != nvml.SUCCESS {
		return code(r)
	}
	return codeSuccess
}

// shutdown also runs after a failed use; without the function there is nothing to do.
func (l *library) shutdown() {
	if l.has("nvmlShutdown") {
		nvml.Shutdown()
	}
}

// has tells whether the library offers any of the spellings of a function. The
// binding itself picks the newest.
func (l *library) has(symbols ...string) bool {
	for _, s := range symbols {
		found, asked := l.have[s]
		if !asked {
			found = nvml.Extensions().LookupSymbol(s) == nil
			l.have[s] = found
		}
		if found {
			return true
		}
	}
	return false
}

func (l *library) count() (int, code) {
	if !l.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return 0, codeFunctionNotFound
	}
	n, r := nvml.DeviceGetCount()
	return n, code(r)
}

func (l *library) device(index int) (device, code) {
	if !l.has("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		return nil, codeFunctionNotFound
	}
	h, r := nvml.DeviceGetHandleByIndex(index)
	return &handle{library: l, dev: h, gpuInstance: wholeGPU}, code(r)
}

const wholeGPU = -1

// handle is a device of the library: a GPU, or a MIG instance of parent.
type handle struct {
	library     *library
	dev         nvml.Device
	parent      nvml.Device
	gpuInstance int
}

// call asks for one thing if the library offers the function.
func call[T any](l *library, symbol string, f func() (T, nvml.Return)) (T, code) {
	if !l.has(symbol) {
		var none T
		return none, codeFunctionNotFound
	}
	v, r := f()
	return v, code(r)
}

func (h *handle) name() (string, code) {
	s, c := call(h.library, "nvmlDeviceGetName", h.dev.GetName)
	return strings.Clone(s), c
}

func (h *handle) uuid() (string, code) {
	s, c := call(h.library, "nvmlDeviceGetUUID", h.dev.GetUUID)
	return strings.Clone(s), c
}

// queries are the functions behind each quantity. GetPcieThroughput is left out
// on purpose: it blocks for 20 ms per call.
var queries = map[quantity]struct {
	symbol string
	ask    func(nvml.Device) (uint32, nvml.Return)
}{
	busyPercent: {"nvmlDeviceGetUtilizationRates", func(d nvml.Device) (uint32, nvml.Return) {
		u, r := d.GetUtilizationRates()
		return u.Gpu, r
	}},
	memoryBusyPercent: {"nvmlDeviceGetUtilizationRates", func(d nvml.Device) (uint32, nvml.Return) {
		u, r := d.GetUtilizationRates()
		return u.Memory, r
	}},
	powerMilliwatt:      {"nvmlDeviceGetPowerUsage", nvml.Device.GetPowerUsage},
	powerLimitMilliwatt: {"nvmlDeviceGetEnforcedPowerLimit", nvml.Device.GetEnforcedPowerLimit},
	temperatureCelsius: {"nvmlDeviceGetTemperature", func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetTemperature(nvml.TEMPERATURE_GPU)
	}},
	smClockMHz: {"nvmlDeviceGetClockInfo", func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetClockInfo(nvml.CLOCK_SM)
	}},
	memoryClockMHz: {"nvmlDeviceGetClockInfo", func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetClockInfo(nvml.CLOCK_MEM)
	}},
	busWidthBits: {"nvmlDeviceGetMemoryBusWidth", nvml.Device.GetMemoryBusWidth},
	maxMemoryClockMHz: {"nvmlDeviceGetMaxClockInfo", func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetMaxClockInfo(nvml.CLOCK_MEM)
	}},
}

// clockReasons asks what holds the clocks down. The function was renamed; of the
// 64 bits those beyond 32 are not used.
func (h *handle) clockReasons() (uint32, code) {
	mask, c := call(h.library, "nvmlDeviceGetCurrentClocksEventReasons", h.dev.GetCurrentClocksEventReasons)
	if c == codeFunctionNotFound {
		mask, c = call(h.library, "nvmlDeviceGetCurrentClocksThrottleReasons", h.dev.GetCurrentClocksThrottleReasons)
	}
	return uint32(mask), c
}

func (h *handle) value(q quantity) (uint32, code) {
	if q == clockReasons {
		return h.clockReasons()
	}
	query := queries[q]
	return call(h.library, query.symbol, func() (uint32, nvml.Return) { return query.ask(h.dev) })
}

// memory prefers the second version, which does not count what the driver
// reserves as used.
func (h *handle) memory() (memory, code) {
	m2, c := call(h.library, "nvmlDeviceGetMemoryInfo_v2", h.dev.GetMemoryInfo_v2)
	if c != codeFunctionNotFound && c != codeStructVersionWrong {
		return memory{used: m2.Used, total: m2.Total}, c
	}
	m1, c := call(h.library, "nvmlDeviceGetMemoryInfo", h.dev.GetMemoryInfo)
	return memory{used: m1.Used, total: m1.Total}, c
}

// instances walks the MIG slots. They have gaps, and neither a gap nor a refusal
// on the parent hides the other ones.
func (h *handle) instances() []migInstance {
	max, c := call(h.library, "nvmlDeviceGetMaxMigDeviceCount", h.dev.GetMaxMigDeviceCount)
	if c != codeSuccess {
		return nil
	}
	var found []migInstance
	for i := range max {
		dev, c := call(h.library, "nvmlDeviceGetMigDeviceHandleByIndex", func() (nvml.Device, nvml.Return) {
			return h.dev.GetMigDeviceHandleByIndex(i)
		})
		if c != codeSuccess {
			continue
		}
		id, c := call(h.library, "nvmlDeviceGetGpuInstanceId", dev.GetGpuInstanceId)
		if c == codeSuccess {
			m := &handle{library: h.library, dev: dev, parent: h.dev, gpuInstance: id}
			found = append(found, migInstance{gpuInstance: id, device: m})
		}
	}
	return found
}

// BuiltWithNVML tells whether this build can load the driver's library.
const BuiltWithNVML = true
