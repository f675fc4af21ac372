//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"cmp"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
)

// Calls that this package names itself; gpu.Reading.Fill names the others.
const (
	busyTime       = "nvmlDeviceGetUtilizationRates().gpu"
	memoryTime     = "nvmlDeviceGetUtilizationRates().memory"
	powerUsage     = "nvmlDeviceGetPowerUsage"
	busWidth       = "nvmlDeviceGetMemoryBusWidth"            // bits
	maxMemoryClock = "nvmlDeviceGetMaxClockInfo"              // MHz
	clockReasons   = "nvmlDeviceGetCurrentClocksEventReasons" // a bit mask: see gpu.Reading.SlowedBy
	memoryInfo     = "nvmlDeviceGetMemoryInfo"
)

// unit is one row: a GPU or a MIG instance, with what was learnt about it.
type unit struct {
	driver           driver
	id, parent, name string
	index            int
	device           device // nil: the handle could not be had, see handle
	handle           Code
	hasMIG           bool // parent of MIG instances
	lost             bool

	// Of a MIG instance.
	whole    device
	instance int // its number on the whole GPU

	refused       map[string]Code // lasting answers since the last enumeration
	codes         []Code          // of the current reading
	gpm           *gpm            // nil: none, see gpmCode
	gpmCode       Code
	bandwidthPeak opt.Float // bytes/s
}

// begin is called at each enumeration: it learns what does not change from tick
// to tick and forgets what was refused.
func (u *unit) begin() {
	u.refused = map[string]Code{}
	if name, c := u.device.name(); c == CodeSuccess {
		u.name = gpu.Clean(name)
	}
	u.bandwidthPeak = u.peak()
	if u.hasMIG || u.gpm != nil && !u.gpm.stopped.lasting() {
		return // the counters of a partitioned GPU belong to its instances
	}
	u.free()
	u.gpm, u.gpmCode = newGPM(u)
}

// free gives the GPM samples back.
func (u *unit) free() {
	if u.gpm != nil {
		u.gpm.free()
		u.gpm = nil
	}
}

// peak is the theoretical bandwidth: two transfers per cycle of the memory clock
// as NVML counts it, over the width of the bus. It is the base of GPM's DRAM
// share. Unknown for a MIG instance and for what shares the system's memory.
func (u *unit) peak() opt.Float {
	if u.parent != "" {
		return opt.Float{}
	}
	if _, total, c := u.device.memory(); c != CodeSuccess || total == 0 {
		return opt.Float{}
	}
	if bits, mhz := u.ask(busWidth), u.ask(maxMemoryClock); bits.V > 0 && mhz.V > 0 {
		return opt.Of(bits.V / 8 * mhz.V * 1e6 * 2)
	}
	return opt.Float{}
}

// read asks the device for everything. It never fails: what cannot be had is
// unknown, and the note says why.
func (u *unit) read(hostMemory HostMemory) gpu.Reading {
	r := gpu.Reading{ID: u.id, Parent: u.parent, Index: u.index, Name: u.name, Source: gpu.SourceNVML, Lost: u.lost}
	if u.device == nil || u.lost {
		r.Note = cmp.Or(u.handle, CodeGPUIsLost).Error()
		return r
	}
	u.codes = nil
	memoryNote := u.readMemory(&r, hostMemory)
	counters, gpmNote := u.readGPM(&r)
	whole := u.parent == "" // its parts share power, clocks, temperature and links
	r.Fill(func(name string) opt.Float {
		switch {
		case gpmIDs[name] != 0 && (whole || !strings.HasSuffix(name, perSecond)):
			return counters.value(name)
		case whole && strings.HasPrefix(name, "nvmlDevice") && name != memoryInfo:
			return u.ask(name)
		}
		return opt.Float{}
	})
	var boardNote string
	if whole {
		boardNote = gpu.Join(r.SlowedBy(u.ask(clockReasons)),
			u.missing("utilisation", r.Busy, busyTime), u.missing("power", r.Power, powerUsage))
	} else {
		r.Busy = counters.value(gpmGraphics) // NVML has no time share for an instance
	}
	if r.MemShared { // such drivers answer 0
		r.MemBusy, r.PCIeSent, r.PCIeReceived = opt.Float{}, opt.Float{}, opt.Float{}
	}
	if u.deviceLost() {
		u.lost = true
		return u.read(hostMemory)
	}
	r.BandwidthPeak = u.bandwidthPeak
	r.Note = gpu.Join(boardNote, gpmNote, memoryNote)
	return r
}

// missing says why a value is missing.
func (u *unit) missing(what string, v opt.Float, name string) string {
	switch {
	case v.OK:
		return ""
	case name == busyTime && u.hasMIG:
		return "utilisation n/a (MIG)"
	case u.refused[name] == CodeNotSupported:
		return what + " not supported here"
	case u.refused[name] == CodeNoPermission:
		return "no permission for " + what
	}
	return ""
}

// readMemory sets the host's memory where the GPU shares it (GB10, Jetson):
// such drivers either refuse the question or answer with a total of 0.
func (u *unit) readMemory(r *gpu.Reading, hostMemory HostMemory) (note string) {
	var used, total uint64
	c, refused := u.refused[memoryInfo]
	if !refused {
		used, total, c = u.device.memory()
		u.took(memoryInfo, c)
	}
	shared := c == CodeNotSupported || c == CodeSuccess && total == 0
	switch {
	case shared && u.parent == "":
		if r.MemUsed, r.MemTotal = hostMemory(); !r.MemTotal.OK {
			return "memory not supported here"
		}
		r.MemShared = true
		return sharedNote
	case c == CodeNoPermission:
		return "no permission for memory"
	case c != CodeSuccess || total == 0:
		return ""
	}
	r.MemTotal = opt.Of(float64(total))
	if used <= total { // all ones means "not available" on WSL2
		r.MemUsed = opt.Of(float64(used))
	}
	return ""
}

// readGPM returns the counters of SM, DRAM and tensor activity; the time share is not
// a stand-in.
func (u *unit) readGPM(r *gpu.Reading) (counters gpmValues, note string) {
	switch {
	case u.hasMIG:
		return nil, "SM and DRAM: see the MIG instances"
	case u.gpm == nil:
		return nil, whyNoGPM(u.gpmCode)
	}
	counters, c := u.gpm.poll()
	u.codes = append(u.codes, c)
	if c != CodeSuccess {
		return nil, whyNoGPM(c)
	}
	r.Source = gpu.SourceGPM
	if counters == nil {
		note = "SM and DRAM: waiting for a second sample"
	}
	return counters, note
}

// ask queries a value, in the driver's unit, unless the device refused it for good.
func (u *unit) ask(name string) opt.Float {
	if _, refused := u.refused[name]; refused {
		return opt.Float{}
	}
	v, c := u.device.value(name)
	u.took(name, c)
	if c != CodeSuccess {
		return opt.Float{}
	}
	return opt.Of(float64(v))
}

// took remembers an answer.
func (u *unit) took(name string, c Code) {
	u.codes = append(u.codes, c)
	if c.lasting() {
		u.refused[name] = c
	}
}

// deviceLost: the driver says so, or it answers nothing but "unknown error", as
// it does when a GPU fell off the bus or a container lost its devices.
func (u *unit) deviceLost() bool {
	return slices.ContainsFunc(u.codes, Code.lost) ||
		len(u.codes) > 1 && !slices.ContainsFunc(u.codes, func(c Code) bool { return c != CodeUnknown })
}
