//go:build linux && cgo

package nvml

import (
	"strings"
	"time"

	binding "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Built reports whether this build can load the driver's library.
const Built = true

// Open reads this machine's GPUs through NVML; its error is a sentence for people.
func Open(interval time.Duration) (*Reader, error) { return open(&library{}, interval) }

// library is the driver's libnvidia-ml.so.1. The binding leaves its functions
// unresolved until the first call, and a function that the installed library
// lacks ends the process at once, past any recover and with the terminal in raw
// mode. Each function is therefore looked up before it is called; the texts of
// return codes are our own for the same reason.
type library struct {
	have map[string]bool // answers of lookups since init
}

func (l *library) init() Code {
	l.have = map[string]bool{}
	if r := binding.Init(); r != binding.SUCCESS {
		return Code(r)
	}
	return CodeSuccess
}

// shutdown also runs after a failed use; without the function there is nothing to do.
func (l *library) shutdown() {
	if l.has("nvmlShutdown") {
		binding.Shutdown()
	}
}

// has reports whether the library offers any of the spellings of a function. The
// binding itself picks the newest.
func (l *library) has(symbols ...string) bool {
	for _, s := range symbols {
		found, known := l.have[s]
		if !known {
			found = binding.Extensions().LookupSymbol(s) == nil
			l.have[s] = found
		}
		if found {
			return true
		}
	}
	return false
}

func (l *library) count() (int, Code) {
	if !l.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return 0, CodeFunctionNotFound
	}
	n, r := binding.DeviceGetCount()
	return n, Code(r)
}

func (l *library) device(index int) (device, Code) {
	if !l.has("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		return nil, CodeFunctionNotFound
	}
	h, r := binding.DeviceGetHandleByIndex(index)
	return &handle{library: l, dev: h, gpuInstance: wholeGPU}, Code(r)
}

const wholeGPU = -1

// handle is a device of the library: a GPU, or a MIG instance of parent.
type handle struct {
	library     *library
	dev         binding.Device
	parent      binding.Device
	gpuInstance int
}

// call makes one query if the library offers the function.
func call[T any](l *library, symbol string, f func() (T, binding.Return)) (T, Code) {
	if !l.has(symbol) {
		var none T
		return none, CodeFunctionNotFound
	}
	v, r := f()
	return v, Code(r)
}

func (h *handle) name() (string, Code) {
	s, c := call(h.library, "nvmlDeviceGetName", h.dev.GetName)
	return strings.Clone(s), c
}

func (h *handle) uuid() (string, Code) {
	s, c := call(h.library, "nvmlDeviceGetUUID", h.dev.GetUUID)
	return strings.Clone(s), c
}

// queries are the calls behind the names that gpu.Reading.Fill and the constants of
// unit.go have for a quantity. GetPcieThroughput is missing on purpose: it blocks for
// 20 ms per call.
var queries = map[string]func(binding.Device) (uint32, binding.Return){
	busyTime: func(d binding.Device) (uint32, binding.Return) {
		u, r := d.GetUtilizationRates()
		return u.Gpu, r
	},
	"nvmlDeviceGetUtilizationRates().memory": func(d binding.Device) (uint32, binding.Return) {
		u, r := d.GetUtilizationRates()
		return u.Memory, r
	},
	powerUsage:                        binding.Device.GetPowerUsage,
	"nvmlDeviceGetEnforcedPowerLimit": binding.Device.GetEnforcedPowerLimit,
	"nvmlDeviceGetTemperature": func(d binding.Device) (uint32, binding.Return) {
		return d.GetTemperature(binding.TEMPERATURE_GPU)
	},
	"nvmlDeviceGetClockInfo(SM)": func(d binding.Device) (uint32, binding.Return) {
		return d.GetClockInfo(binding.CLOCK_SM)
	},
	"nvmlDeviceGetClockInfo(memory)": func(d binding.Device) (uint32, binding.Return) {
		return d.GetClockInfo(binding.CLOCK_MEM)
	},
	busWidth: binding.Device.GetMemoryBusWidth,
	maxMemoryClock: func(d binding.Device) (uint32, binding.Return) {
		return d.GetMaxClockInfo(binding.CLOCK_MEM)
	},
}

func (h *handle) value(name string) (uint32, Code) {
	if name == clockReasons {
		return h.clockReasons()
	}
	symbol, _, _ := strings.Cut(name, "(")
	return call(h.library, symbol, func() (uint32, binding.Return) { return queries[name](h.dev) })
}

// clockReasons queries what holds the clocks down. The function was renamed; of the
// 64 bits those beyond 32 are not used.
func (h *handle) clockReasons() (uint32, Code) {
	mask, c := call(h.library, clockReasons, h.dev.GetCurrentClocksEventReasons)
	if c == CodeFunctionNotFound {
		mask, c = call(h.library, "nvmlDeviceGetCurrentClocksThrottleReasons", h.dev.GetCurrentClocksThrottleReasons)
	}
	return uint32(mask), c
}

// memory prefers the second version, which does not count what the driver
// reserves as used.
func (h *handle) memory() (memory, Code) {
	m2, c := call(h.library, "nvmlDeviceGetMemoryInfo_v2", h.dev.GetMemoryInfo_v2)
	if c != CodeFunctionNotFound && c != CodeStructVersionWrong {
		return memory{used: m2.Used, total: m2.Total}, c
	}
	m1, c := call(h.library, "nvmlDeviceGetMemoryInfo", h.dev.GetMemoryInfo)
	return memory{used: m1.Used, total: m1.Total}, c
}

// instances walks the MIG slots. They have gaps, and neither a gap nor a refusal
// on the parent hides the other ones.
func (h *handle) instances() []migInstance {
	max, c := call(h.library, "nvmlDeviceGetMaxMigDeviceCount", h.dev.GetMaxMigDeviceCount)
	if c != CodeSuccess {
		return nil
	}
	var found []migInstance
	for i := range max {
		dev, c := call(h.library, "nvmlDeviceGetMigDeviceHandleByIndex", func() (binding.Device, binding.Return) {
			return h.dev.GetMigDeviceHandleByIndex(i)
		})
		if c != CodeSuccess {
			continue
		}
		id, c := call(h.library, "nvmlDeviceGetGpuInstanceId", dev.GetGpuInstanceId)
		if c == CodeSuccess {
			m := &handle{library: h.library, dev: dev, parent: h.dev, gpuInstance: id}
			found = append(found, migInstance{gpuInstance: id, device: m})
		}
	}
	return found
}

var gpmSymbols = []string{
	"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree",
	"nvmlGpmSampleGet", "nvmlGpmMetricsGet",
}

// gpmSamples are two samples of the library, kept for the life of the device.
type gpmSamples struct {
	handle  *handle
	samples [2]binding.GpmSample
}

// gpm allocates the samples of a device. That the library has the functions says
// nothing about the device, which is queried. An instance samples through its parent.
func (h *handle) gpm() (gpmBuffers, Code) {
	for _, s := range gpmSymbols {
		if !h.library.has(s) {
			return nil, CodeFunctionNotFound
		}
	}
	whole := h.dev
	if h.gpuInstance != wholeGPU {
		if whole = h.parent; !h.library.has("nvmlGpmMigSampleGet") {
			return nil, CodeFunctionNotFound
		}
	}
	support, r := whole.GpmQueryDeviceSupport()
	switch {
	case r != binding.SUCCESS:
		return nil, Code(r)
	case support.IsSupportedDevice == 0:
		return nil, CodeNotSupported
	}
	g := &gpmSamples{handle: h}
	for i := range g.samples {
		s, r := binding.GpmSampleAlloc()
		if r != binding.SUCCESS {
			g.free()
			return nil, Code(r)
		}
		g.samples[i] = s
	}
	return g, CodeSuccess
}

func (g *gpmSamples) take(buffer int) Code {
	if g.handle.gpuInstance != wholeGPU {
		return Code(g.handle.parent.GpmMigSampleGet(g.handle.gpuInstance, g.samples[buffer]))
	}
	return Code(g.handle.dev.GpmSampleGet(g.samples[buffer]))
}

func (g *gpmSamples) metrics(older, newer int) (map[uint32]float64, Code) {
	request := binding.GpmMetricsGetType{Sample1: g.samples[older], Sample2: g.samples[newer]}
	for _, id := range gpmIDs {
		request.Metrics[request.NumMetrics].MetricId = id
		request.NumMetrics++
	}
	if r := binding.GpmMetricsGet(&request); r != binding.SUCCESS {
		return nil, Code(r)
	}
	found := map[uint32]float64{}
	for _, m := range request.Metrics[:request.NumMetrics] {
		if m.NvmlReturn == uint32(CodeSuccess) {
			found[m.MetricId] = m.Value
		}
	}
	return found, CodeSuccess
}

func (g *gpmSamples) free() {
	for i, s := range g.samples {
		if s != nil {
			s.Free()
			g.samples[i] = nil
		}
	}
}
