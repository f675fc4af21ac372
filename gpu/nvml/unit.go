package nvml

import (
	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/opt"
)

// unit is one row: a GPU or a MIG instance, with what was learnt about it.
type unit struct {
	id, parent, name string
	index            int
	device           device // nil: the handle could not be had, see handle
	handle           Code
	hasMIG           bool // parent of MIG instances
	lost             bool

	refused       map[quantity]Code // lasting answers since the last enumeration
	gpm           *gpm              // nil: none, see gpmCode
	gpmCode       Code
	bandwidthPeak opt.Float // bytes/s
}

// begin is called at each enumeration: it learns what does not change from tick
// to tick and forgets what was refused.
func (u *unit) begin() {
	u.refused = map[quantity]Code{}
	if name, c := u.device.name(); c == CodeSuccess {
		u.name = common.Clean(name)
	}
	u.bandwidthPeak = u.peak()
	if u.hasMIG || u.gpm != nil && !u.gpm.stopped.lasting() {
		return // the counters of a partitioned GPU belong to its instances
	}
	u.free()
	var buffers gpmBuffers
	if buffers, u.gpmCode = u.device.gpm(); u.gpmCode == CodeSuccess {
		u.gpm = &gpm{buffers: buffers}
	}
}

// free gives the GPM samples back.
func (u *unit) free() {
	if u.gpm != nil {
		u.gpm.buffers.free()
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
	if m, c := u.device.memory(); c != CodeSuccess || m.total == 0 {
		return opt.Float{}
	}
	bits, c1, _ := u.query(busWidthBits)
	mhz, c2, _ := u.query(maxMemoryClockMHz)
	if c1 != CodeSuccess || c2 != CodeSuccess || bits == 0 || mhz == 0 {
		return opt.Float{}
	}
	return opt.Of(float64(bits) / 8 * float64(mhz) * 1e6 * 2)
}

// query asks the device unless it refused for good.
func (u *unit) query(q quantity) (v uint32, c Code, asked bool) {
	if c, refused := u.refused[q]; refused {
		return 0, c, false
	}
	v, c = u.device.value(q)
	u.remember(q, c)
	return v, c, true
}

func (u *unit) remember(q quantity, c Code) {
	if c.lasting() {
		u.refused[q] = c
	}
}

// read asks the device for everything. It never fails: what cannot be had is
// unknown, and the note says why.
func (u *unit) read(hostMemory common.HostMemory) gpu.Reading {
	r := gpu.Reading{ID: u.id, Parent: u.parent, Index: u.index, Name: u.name, Source: gpu.SourceNVML, Lost: u.lost}
	if u.device == nil || u.lost {
		r.Note = u.whyNothing()
		return r
	}
	a := answers{unit: u}
	memoryNote := u.readMemory(&r, &a, hostMemory)
	gpmNote := u.readGPM(&r, &a)
	var note string
	if u.parent == "" {
		note = u.readBoard(&r, &a)
	}
	if a.deviceLost() {
		u.lost = true
		return u.read(hostMemory)
	}
	r.BandwidthPeak = u.bandwidthPeak
	r.Note = common.Join(note, gpmNote, memoryNote)
	return r
}

func (u *unit) whyNothing() string {
	if u.handle != CodeSuccess {
		return u.handle.Error()
	}
	return CodeGPUIsLost.Error()
}

// readBoard asks what only a whole GPU has: the parts of a partitioned one share
// its power, clocks and temperature.
func (u *unit) readBoard(r *gpu.Reading, a *answers) (note string) {
	r.Busy = common.AtMost(a.ask(busyPercent, 100), 1)
	if !r.MemShared { // where the memory is the system's this stands at 0
		r.MemBusy = common.AtMost(a.ask(memoryBusyPercent, 100), 1)
	}
	r.Power = common.Positive(a.ask(powerMilliwatt, 1000))
	r.PowerLimit = common.Positive(a.ask(powerLimitMilliwatt, 1000))
	r.Temperature = a.ask(temperatureCelsius, 1)
	r.SMClock, r.MemClock = a.ask(smClockMHz, 1).Scale(1e6), a.ask(memoryClockMHz, 1).Scale(1e6)
	return common.Join(common.SlowNote(a.ask(clockReasons, 1)),
		u.missing("utilisation", r.Busy, busyPercent), u.missing("power", r.Power, powerMilliwatt))
}

// missing says why a value is missing.
func (u *unit) missing(what string, v opt.Float, q quantity) string {
	switch c, refused := u.refused[q]; {
	case v.OK:
		return ""
	case q == busyPercent && u.hasMIG:
		return "utilisation n/a (MIG)"
	case refused && c == CodeNotSupported:
		return what + " not supported here"
	case refused && c == CodeNoPermission:
		return "no permission for " + what
	}
	return ""
}

// readMemory sets the host's memory where the GPU shares it (GB10, Jetson):
// such drivers either refuse the question or answer with a total of 0.
func (u *unit) readMemory(r *gpu.Reading, a *answers, hostMemory common.HostMemory) (note string) {
	m, c := a.memory()
	shared := c == CodeNotSupported || c == CodeSuccess && m.total == 0
	switch {
	case shared && u.parent == "":
		if !common.SetHostMemory(r, hostMemory) {
			return "memory not supported here"
		}
		return common.SharedNote
	case c == CodeNoPermission:
		return "no permission for memory"
	case c != CodeSuccess || m.total == 0:
		return ""
	}
	r.MemTotal = opt.Of(float64(m.total))
	if m.used <= m.total { // all ones means "not available" on WSL2
		r.MemUsed = opt.Of(float64(m.used))
	}
	return ""
}

// readGPM sets SM, DRAM and tensor activity; the time share is not a stand-in.
func (u *unit) readGPM(r *gpu.Reading, a *answers) (note string) {
	switch {
	case u.hasMIG:
		return "SM and DRAM: see the MIG instances"
	case u.gpm == nil:
		return whyNoGPM(u.gpmCode)
	}
	v, c := u.gpm.poll()
	a.note(c)
	if c != CodeSuccess {
		return whyNoGPM(c)
	}
	r.Source = gpu.SourceGPM
	r.SM, r.DRAM, r.Tensor, r.Occupancy = v.sm, v.dram, v.tensor, v.occupancy
	if u.parent != "" {
		r.Busy = v.graphics // NVML has no time share for an instance
	} else { // links belong to the whole GPU
		r.PCIeSent, r.PCIeReceived, r.NVLinkSent, r.NVLinkReceived = v.pcieSent, v.pcieReceived, v.nvlinkSent, v.nvlinkReceived
	}
	if r.MemShared {
		r.PCIeSent, r.PCIeReceived = opt.Float{}, opt.Float{}
	}
	if !v.complete {
		return "SM and DRAM: waiting for a second sample"
	}
	return ""
}

// answers collects the return codes of one reading of one unit, to distinguish a lost
// device from single refusals.
type answers struct {
	unit           *unit
	lost           bool
	asked, unknown int
}

func (a *answers) note(c Code) {
	a.lost = a.lost || c.lost()
	a.asked++
	if c == CodeUnknown {
		a.unknown++
	}
}

// deviceLost: the driver says so, or it answers nothing but "unknown error", as
// it does when a GPU fell off the bus or a container lost its devices.
func (a *answers) deviceLost() bool {
	return a.lost || a.asked > 1 && a.unknown == a.asked
}

// ask gives the value in the unit that holds "per" of the driver's.
func (a *answers) ask(q quantity, per float64) opt.Float {
	v, c, asked := a.unit.query(q)
	if asked {
		a.note(c)
	}
	if c != CodeSuccess {
		return opt.Float{}
	}
	return opt.Of(float64(v) / per)
}

func (a *answers) memory() (memory, Code) {
	if c, refused := a.unit.refused[memoryBytes]; refused {
		return memory{}, c
	}
	m, c := a.unit.device.memory()
	a.note(c)
	a.unit.remember(memoryBytes, c)
	return m, c
}
