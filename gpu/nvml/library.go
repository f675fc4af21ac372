//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

const libraryName = "libnvidia-ml.so.1"

// library is the driver's libnvidia-ml.so.1, opened at run time. Each function is
// looked up by name before its first call: older drivers lack some.
type library struct {
	handle    uintptr
	functions map[string]uintptr // by symbol; 0: the library lacks it
}

// newerNames are the second versions of functions, with the same parameters, which are
// preferred.
var newerNames = map[string]string{
	"nvmlInit":                   "nvmlInit_v2",
	"nvmlDeviceGetCount":         "nvmlDeviceGetCount_v2",
	"nvmlDeviceGetHandleByIndex": "nvmlDeviceGetHandleByIndex_v2",
}

func (l *library) find(symbol string) uintptr {
	f, known := l.functions[symbol]
	if known || l.handle == 0 {
		return f
	}
	if newer := newerNames[symbol]; newer != "" {
		f, _ = purego.Dlsym(l.handle, newer)
	}
	if f == 0 {
		f, _ = purego.Dlsym(l.handle, symbol) // 0 with an error
	}
	l.functions[symbol] = f
	return f
}

// call calls a function of the library. What the arguments point to stays where it is
// until the function returns: the directive covers conversions in the call's own list.
//
//go:uintptrescapes
func (l *library) call(symbol string, args ...uintptr) Code {
	f := l.find(symbol)
	if f == 0 {
		return CodeFunctionNotFound
	}
	code, _, _ := purego.SyscallN(f, args...)
	return Code(int32(code)) // nvmlReturn_t has 32 bits; the rest of the register is undefined
}

func (l *library) init() Code {
	handle, err := purego.Dlopen(libraryName, purego.RTLD_LAZY|purego.RTLD_GLOBAL)
	if err != nil {
		return CodeLibraryNotFound
	}
	l.handle, l.functions = handle, map[string]uintptr{}
	c := l.call("nvmlInit")
	if c != CodeSuccess {
		l.close()
	}
	return c
}

// shutdown also runs after a failed use; without the function there is nothing to do.
func (l *library) shutdown() {
	l.call("nvmlShutdown")
	l.close()
}

func (l *library) close() {
	_ = purego.Dlclose(l.handle)
	l.handle, l.functions = 0, nil
}

func (l *library) count() (int, Code) {
	var n uint32
	c := l.call("nvmlDeviceGetCount", uintptr(unsafe.Pointer(&n)))
	return int(n), c
}

func (l *library) device(index int) (device, Code) {
	d := &libraryDevice{library: l}
	c := l.call("nvmlDeviceGetHandleByIndex", uintptr(index), uintptr(unsafe.Pointer(&d.handle)))
	return d, c
}

func (l *library) newSample() (s gpmSample, c Code) {
	c = l.call("nvmlGpmSampleAlloc", uintptr(unsafe.Pointer(&s)))
	return s, c
}

func (l *library) freeSample(s gpmSample) { l.call("nvmlGpmSampleFree", uintptr(s)) }

func (l *library) compare(older, newer gpmSample, metrics []gpmMetric) Code {
	request := gpmMetricsGet{version: gpmVersion, older: older, newer: newer}
	request.count = uint32(copy(request.metrics[:], metrics))
	c := l.call("nvmlGpmMetricsGet", uintptr(unsafe.Pointer(&request)))
	copy(metrics, request.metrics[:])
	return c
}
