package gpu

// fakeDriver and fakeDevice are a driver in which every answer can be set and
// every question is counted.
type fakeDriver struct {
	initCode  code
	countCode code
	inits     int
	downs     int
	devices   []*fakeDevice
	onCount   func() // called before the devices are counted
}

func (d *fakeDriver) init() code { d.inits++; return d.initCode }
func (d *fakeDriver) shutdown()  { d.downs++ }
func (d *fakeDriver) count() (int, code) {
	if d.onCount != nil {
		d.onCount()
	}
	return len(d.devices), d.countCode
}
func (d *fakeDriver) device(i int) (device, code) {
	return d.devices[i], d.devices[i].handleCode
}

type fakeDevice struct {
	id         string
	handleCode code
	allCodes   code // of every other call
	values     map[quantity]uint32
	codes      map[quantity]code
	mem        memory
	memCode    code
	gpmCode    code
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
		codes: map[quantity]code{}, asked: map[quantity]int{},
		mem:     memory{used: 1 << 30, total: 4 << 30},
		samples: &fakeSamples{percent: map[uint32]float64{gpmSMUtil: 80, gpmDRAMBandwidth: 60, gpmAnyTensorUtil: 20}},
	}
}

func (d *fakeDevice) name() (string, code) { return "NVIDIA Fake", d.allCodes }
func (d *fakeDevice) uuid() (string, code) { return d.id, d.allCodes }
func (d *fakeDevice) value(q quantity) (uint32, code) {
	d.asked[q]++
	if q == busyPercent && d.onBusy != nil {
		d.onBusy()
	}
	if d.allCodes != codeSuccess {
		return 0, d.allCodes
	}
	return d.values[q], d.codes[q]
}
func (d *fakeDevice) memory() (memory, code) {
	if d.allCodes != codeSuccess {
		return memory{}, d.allCodes
	}
	return d.mem, d.memCode
}
func (d *fakeDevice) gpm() (gpmBuffers, code) {
	if d.gpmCode != codeSuccess {
		return nil, d.gpmCode
	}
	d.samples.allocated++
	return d.samples, codeSuccess
}
func (d *fakeDevice) instances() []migInstance { return d.mig }

type fakeSamples struct {
	percent     map[uint32]float64
	metricCodes map[uint32]code
	takeCode    code
	taken       []int    // buffers, in order
	compared    [][2]int // older, newer
	allocated   int
	freed       int
}

func (s *fakeSamples) take(buffer int) code {
	s.taken = append(s.taken, buffer)
	return s.takeCode
}
func (s *fakeSamples) metrics(older, newer int, ids []uint32) ([]gpmMetric, code) {
	s.compared = append(s.compared, [2]int{older, newer})
	out := make([]gpmMetric, len(ids))
	for i, id := range ids {
		c := s.metricCodes[id]
		if _, known := s.percent[id]; !known && c == codeSuccess {
			c = codeNotSupported
		}
		out[i] = gpmMetric{value: s.percent[id], code: c}
	}
	return out, codeSuccess
}
func (s *fakeSamples) free() { s.freed++ }
