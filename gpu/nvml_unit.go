package gpu

import (
	"math"

	"sonde/probe/opt"
)

// unit is one row: a GPU or a MIG instance, with what was learnt about it.
type unit struct {
	id, parent, name string
	index            int
	device           device // nil: the handle could not be had, see handle
	handle           code
	hasMIG           bool // parent of MIG instances
	lost             bool

	refused       map[quantity]code // lasting answers since the last enumeration
	gpm           *gpm              // nil: none, see gpmCode
	gpmCode       code
	bandwidthPeak opt.Float // bytes/s
}

// begin is called at each enumeration: it learns what does not change from tick
// to tick and forgets what was refused.
func (u *unit) begin() {
	u.refused = map[quantity]code{}
	if name, c := u.device.name(); c == codeSuccess {
		u.name = clean(name)
	}
	u.bandwidthPeak = u.peak()
	if u.hasMIG || u.gpm != nil && !u.gpm.stopped.lasting() {
		return // the counters of a partitioned GPU belong to its instances
	}
	u.free()
	var buffers gpmBuffers
	if buffers, u.gpmCode = u.device.gpm(); u.gpmCode == codeSuccess {
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
	if m, c := u.device.memory(); c != codeSuccess || m.total == 0 {
		return opt.Float{}
	}
	bits, c1, _ := u.query(busWidthBits)
	mhz, c2, _ := u.query(maxMemoryClockMHz)
	if c1 != codeSuccess || c2 != codeSuccess || bits == 0 || mhz == 0 {
		return opt.Float{}
	}
	return opt.Of(float64(bits) / 8 * float64(mhz) * 1e6 * 2)
}

// query asks the device unless it refused for good; asked tells which.
func (u *unit) query(q quantity) (v uint32, c code, asked bool) {
	if c, refused := u.refused[q]; refused {
		return 0, c, false
	}
	v, c = u.device.value(q)
	u.remember(q, c)
	return v, c, true
}

func (u *unit) remember(q quantity, c code) {
	if c.lasting() {
		u.refused[q] = c
	}
}

// read asks the device for everything. It never fails: what cannot be had is
// unknown, and the note says why.
func (u *unit) read(hostMemory func() (uint64, uint64, bool)) Reading {
	r := Reading{ID: u.id, Parent: u.parent, Index: u.index, Name: u.name, Source: "nvml", Lost: u.lost}
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
	r.Note = joinNotes(note, gpmNote, memoryNote)
	return r
}

func (u *unit) whyNothing() string {
	if u.handle != codeSuccess {
		return u.handle.Error()
	}
	return codeGPUIsLost.Error()
}

// readBoard asks what only a whole GPU has: the parts of a partitioned one share
// its power, clocks and temperature.
func (u *unit) readBoard(r *Reading, a *answers) (note string) {
	r.Busy = atMost(a.ask(busyPercent, 100), 1)
	if !r.MemShared { // where the memory is the system's this stands at 0
		r.MemBusy = atMost(a.ask(memoryBusyPercent, 100), 1)
	}
	r.Power = positive(a.ask(powerMilliwatt, 1000))
	r.PowerLimit = positive(a.ask(powerLimitMilliwatt, 1000))
	r.Temperature = a.ask(temperatureCelsius, 1)
	r.SMClock, r.MemClock = a.ask(smClockMHz, 1).Scale(1e6), a.ask(memoryClockMHz, 1).Scale(1e6)
	return joinNotes(slowedBy(a.ask(clockReasons, 1)),
		u.missing("utilisation", r.Busy, busyPercent), u.missing("power", r.Power, powerMilliwatt))
}

// missing says why a value is not there.
func (u *unit) missing(what string, v opt.Float, q quantity) string {
	switch c, refused := u.refused[q]; {
	case v.OK:
		return ""
	case q == busyPercent && u.hasMIG:
		return "utilisation n/a (MIG)"
	case refused && c == codeNotSupported:
		return what + " not supported here"
	case refused && c == codeNoPermission:
		return "no permission for " + what
	}
	return ""
}

// readMemory fills in the host's memory where the GPU shares it (GB10, Jetson):
// such drivers either refuse the question or answer with a total of 0.
func (u *unit) readMemory(r *Reading, a *answers, hostMemory func() (uint64, uint64, bool)) (note string) {
	m, c := a.memory()
	shared := c == codeNotSupported || c == codeSuccess && m.total == 0
	switch {
	case shared && u.parent == "":
		used, total, ok := hostMemory()
		if !ok {
			return "memory not supported here"
		}
		r.MemShared = true
		r.MemUsed, r.MemTotal = opt.Of(float64(used)), opt.Of(float64(total))
		return "memory is the system's, shared with the CPU"
	case c == codeNoPermission:
		return "no permission for memory"
	case c != codeSuccess || m.total == 0:
		return ""
	}
	r.MemTotal = opt.Of(float64(m.total))
	if m.used <= m.total { // all ones means "not available" on WSL2
		r.MemUsed = opt.Of(float64(m.used))
	}
	return ""
}

// readGPM fills in SM, DRAM and tensor activity; the time share is not a stand-in.
func (u *unit) readGPM(r *Reading, a *answers) (note string) {
	switch {
	case u.hasMIG:
		return "SM and DRAM: see the MIG instances"
	case u.gpm == nil:
		return whyNoGPM(u.gpmCode)
	}
	v, c := u.gpm.poll()
	a.note(c)
	if c != codeSuccess {
		return whyNoGPM(c)
	}
	r.Source = "nvml-gpm"
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

// atMost drops what cannot be: NVML's time share is a whole percentage up to 100.
func atMost(v opt.Float, limit float64) opt.Float {
	if v.V > limit {
		return opt.Float{}
	}
	return v
}

// positive drops 0: no GPU that answers draws 0 W or has a limit of 0 W.
func positive(v opt.Float) opt.Float {
	if v.V <= 0 || math.IsNaN(v.V) {
		return opt.Float{}
	}
	return v
}
