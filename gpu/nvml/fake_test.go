package nvml

import ()

import ()

import ()

import ()

// fakeDriver and fakeDevice are a driver in which every answer can be set and
// every question is counted.
type fakeDriver struct {
	initCode  Code
	countCode Code
	inits     int
	downs     int
	devices   []*fakeDevice
	onCount   func() // called before the devices are counted
}

func (d *fakeDriver) init() Code { d.inits++; return d.initCode }
func (d *fakeDriver) shutdown()  { d.downs++ }
func (d *fakeDriver) count() (int, Code) {
	if d.onCount != nil {
		d.onCount()
	}
	return len(d.devices), d.countCode
}
func (d *fakeDriver) device(i int) (device, Code) {
	return d.devices[i], d.devices[i].handleCode
}

type fakeDevice struct {
	id         string
	handleCode Code
	allCodes   Code // of every other call
	values     map[quantity]uint32
	codes      map[quantity]Code
	mem        memory
	memCode    Code
	gpmCode    Code
	samples    *fakeSamples
	mig        []migInstance
	asked      map[quantity]int
	onBusy     func() // called when utilisation is asked
}

func newFakeDevice(id string) *fakeDevice {
	return &fakeDevice{
		id: id,
		values: map[quantity]uint32{busyPercent: 35, powerMilliwatt: 11170, powerLimitMilliwatt: 300000,
			temperatureCelsius: 40, smClockMHz: 1500, busWidthBits: 5120, maxMemoryClockMHz: 2619},
		codes: map[quantity]Code{}, asked: map[quantity]int{},
		mem:     memory{used: 1 << 30, total: 4 << 30},
		samples: &fakeSamples{percent: map[uint32]float64{gpmSMUtil: 80, gpmDRAMBandwidth: 60, gpmAnyTensorUtil: 20}},
	}
}

func (d *fakeDevice) name() (string, Code) { return "NVIDIA Fake", d.allCodes }
func (d *fakeDevice) uuid() (string, Code) { return d.id, d.allCodes }
func (d *fakeDevice) value(q quantity) (uint32, Code) {
	d.asked[q]++
	if q == busyPercent && d.onBusy != nil {
		d.onBusy()
	}
	if d.allCodes != CodeSuccess {
		return 0, d.allCodes
	}
	return d.values[q], d.codes[q]
}
func (d *fakeDevice) memory() (memory, Code) {
	if d.allCodes != CodeSuccess {
		return memory{}, d.allCodes
	}
	return d.mem, d.memCode
}
func (d *fakeDevice) gpm() (gpmBuffers, Code) {
	if d.gpmCode != CodeSuccess {
		return nil, d.gpmCode
	}
	d.samples.allocated++
	return d.samples, CodeSuccess
}
func (d *fakeDevice) instances() []migInstance { return d.mig }

type fakeSamples struct {
	percent     map[uint32]float64
	metricCodes map[uint32]Code
	takeCode    Code
	taken       []int    // buffers, in order
	compared    [][2]int // older, newer
	allocated   int
	freed       int
}

func (s *fakeSamples) take(buffer int) Code {
	s.taken = append(s.taken, buffer)
	return s.takeCode
}
func (s *fakeSamples) metrics(older, newer int, ids []uint32) ([]gpmMetric, Code) {
	s.compared = append(s.compared, [2]int{older, newer})
	out := make([]gpmMetric, len(ids))
	for i, id := range ids {
		c := s.metricCodes[id]
		if _, known := s.percent[id]; !known && c == CodeSuccess {
			c = CodeNotSupported
		}
		out[i] = gpmMetric{value: s.percent[id], code: c}
	}
	return out, CodeSuccess
}
func (s *fakeSamples) free() { s.freed++ }
