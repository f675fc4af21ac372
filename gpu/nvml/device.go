//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"bytes"
	"strings"
	"unsafe"
)

// libraryDevice is a device that the library gave a handle for.
type libraryDevice struct {
	library *library
	handle  deviceHandle
}

func (d *libraryDevice) name() (string, Code) { return d.text("nvmlDeviceGetName") }
func (d *libraryDevice) uuid() (string, Code) { return d.text("nvmlDeviceGetUUID") }

func (d *libraryDevice) text(symbol string) (string, Code) {
	var b [bufferSize]byte
	c := d.library.call(symbol, uintptr(d.handle), uintptr(unsafe.Pointer(&b)), bufferSize)
	text, _, _ := bytes.Cut(b[:], []byte{0})
	return string(text), c
}

// selectors are the second parameters of functions that have one, by query.
var selectors = map[string]uintptr{
	"nvmlDeviceGetTemperature":       temperatureGPU,
	"nvmlDeviceGetClockInfo(SM)":     clockSM,
	"nvmlDeviceGetClockInfo(memory)": clockMemory,
	maxMemoryClock:                   clockMemory,
}

// value takes the names that gpu.Reading.Fill and the constants of unit.go have for a
// quantity. nvmlDeviceGetPcieThroughput is not among them: it blocks for 20 ms per call.
func (d *libraryDevice) value(query string) (uint32, Code) {
	symbol, _, _ := strings.Cut(query, "(")
	if selector, has := selectors[query]; has {
		var v uint32
		c := d.library.call(symbol, uintptr(d.handle), selector, uintptr(unsafe.Pointer(&v)))
		return v, c
	}
	switch query {
	case busyTime, memoryTime:
		var u utilization
		c := d.library.call(symbol, uintptr(d.handle), uintptr(unsafe.Pointer(&u)))
		if query == busyTime {
			return u.gpu, c
		}
		return u.memory, c
	case clockReasons:
		return d.reasons()
	}
	var v uint32
	c := d.library.call(symbol, uintptr(d.handle), uintptr(unsafe.Pointer(&v)))
	return v, c
}

// reasons is a mask of 64 bits, of which those beyond 32 are not used.
func (d *libraryDevice) reasons() (uint32, Code) {
	var bits uint64
	c := d.library.call(clockReasons, uintptr(d.handle), uintptr(unsafe.Pointer(&bits)))
	if c == CodeFunctionNotFound { // its name in older drivers
		c = d.library.call("nvmlDeviceGetCurrentClocksThrottleReasons", uintptr(d.handle), uintptr(unsafe.Pointer(&bits)))
	}
	return uint32(bits), c
}

// memory prefers the second version of the function, which does not count what the driver
// reserves as used.
func (d *libraryDevice) memory() (used, total uint64, c Code) {
	m2 := memoryV2{version: memoryV2Version}
	c = d.library.call(memoryInfo+"_v2", uintptr(d.handle), uintptr(unsafe.Pointer(&m2)))
	if c != CodeFunctionNotFound && c != CodeStructVersionWrong {
		return m2.used, m2.total, c
	}
	var m1 memoryV1
	c = d.library.call(memoryInfo, uintptr(d.handle), uintptr(unsafe.Pointer(&m1)))
	return m1.used, m1.total, c
}

func (d *libraryDevice) migSlots() (int, Code) {
	var n uint32
	c := d.library.call("nvmlDeviceGetMaxMigDeviceCount", uintptr(d.handle), uintptr(unsafe.Pointer(&n)))
	return int(n), c
}

func (d *libraryDevice) migDevice(slot int) (device, Code) {
	part := &libraryDevice{library: d.library}
	c := d.library.call("nvmlDeviceGetMigDeviceHandleByIndex", uintptr(d.handle), uintptr(slot), uintptr(unsafe.Pointer(&part.handle)))
	return part, c
}

func (d *libraryDevice) instance() (int, Code) {
	var id uint32
	c := d.library.call("nvmlDeviceGetGpuInstanceId", uintptr(d.handle), uintptr(unsafe.Pointer(&id)))
	return int(id), c
}

func (d *libraryDevice) hasGPM() (bool, Code) {
	s := gpmSupport{version: gpmVersion}
	c := d.library.call("nvmlGpmQueryDeviceSupport", uintptr(d.handle), uintptr(unsafe.Pointer(&s)))
	return s.isSupported != 0, c
}

func (d *libraryDevice) sample(s gpmSample) Code {
	return d.library.call("nvmlGpmSampleGet", uintptr(d.handle), uintptr(s))
}

func (d *libraryDevice) sampleInstance(instance int, s gpmSample) Code {
	return d.library.call("nvmlGpmMigSampleGet", uintptr(d.handle), uintptr(instance), uintptr(s))
}
