//go:build linux && cgo

package nvml

import (
	"strings"

	binding "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// library is the driver's libnvidia-ml.so.1. The binding leaves its functions
// unresolved until the first call, and a function that the installed library
// lacks ends the process at once, past any recover and with the terminal in raw
// mode. Each function is therefore looked up before it is called; the texts of
// return codes are our own for the same reason.
type library struct {
	binding.Interface
	have map[string]bool // answers of lookups
}

// shutdown also runs after a failed use; without the function there is nothing to do.
func (l *library) shutdown() {
	if l.has("nvmlShutdown") {
		l.Shutdown()
	}
}

// has reports whether the library offers a function, or its second version, which the
// binding prefers.
func (l *library) has(symbol string) bool {
	found, known := l.have[symbol]
	if !known {
		lookup := l.Extensions().LookupSymbol
		found = lookup(symbol) == nil || lookup(symbol+"_v2") == nil
		l.have[symbol] = found
	}
	return found
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
	clockReasons: mask(binding.Device.GetCurrentClocksEventReasons),
	"nvmlDeviceGetCurrentClocksThrottleReasons": mask(binding.Device.GetCurrentClocksThrottleReasons),

	busWidth: binding.Device.GetMemoryBusWidth,
	maxMemoryClock: func(d binding.Device) (uint32, binding.Return) {
		return d.GetMaxClockInfo(binding.CLOCK_MEM)
	},
}

// mask is a query of 64 bits, of which those beyond 32 are not used.
func mask(query func(binding.Device) (uint64, binding.Return)) func(binding.Device) (uint32, binding.Return) {
	return func(d binding.Device) (uint32, binding.Return) {
		bits, r := query(d)
		return uint32(bits), r
	}
}

// value makes one of the queries. The answer is in the driver's unit.
func (l *library) value(d binding.Device, name string) (uint32, Code) {
	symbol, _, _ := strings.Cut(name, "(")
	v, c := call(l, symbol, func() (uint32, binding.Return) { return queries[name](d) })
	if name == clockReasons && c == CodeFunctionNotFound { // its name in older drivers
		return l.value(d, "nvmlDeviceGetCurrentClocksThrottleReasons")
	}
	return v, c
}

// memory is in bytes. The second version of the function does not count what the driver
// reserves as used.
func (l *library) memory(d binding.Device) (used, total uint64, c Code) {
	m2, c := call(l, memoryInfo+"_v2", d.GetMemoryInfo_v2)
	if c != CodeFunctionNotFound && c != CodeStructVersionWrong {
		return m2.Used, m2.Total, c
	}
	m1, c := call(l, memoryInfo, d.GetMemoryInfo)
	return m1.Used, m1.Total, c
}

// instances are the occupied MIG slots of a GPU, by the number of their GPU instance: of
// compute instances that share it the first. The slots have gaps, and neither a gap nor a
// refusal on the GPU hides the other ones.
func (l *library) instances(d binding.Device) map[int]binding.Device {
	slots, c := call(l, "nvmlDeviceGetMaxMigDeviceCount", d.GetMaxMigDeviceCount)
	if c != CodeSuccess {
		return nil
	}
	found := map[int]binding.Device{}
	for i := range slots {
		part, c := call(l, "nvmlDeviceGetMigDeviceHandleByIndex", func() (binding.Device, binding.Return) {
			return d.GetMigDeviceHandleByIndex(i)
		})
		if c != CodeSuccess {
			continue
		}
		id, c := call(l, "nvmlDeviceGetGpuInstanceId", part.GetGpuInstanceId)
		if c == CodeSuccess && found[id] == nil {
			found[id] = part
		}
	}
	return found
}
