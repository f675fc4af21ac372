package nvml

// Ids of NVML's nvmlGpmMetricId_t, and names that gpu.Reading.Fill has.
const (
	graphicsUtil, smUtil, smOccupancy, tensorUtil, dramBandwidth = 1, 2, 3, 5, 10
	pcieSent, pcieReceived, nvlinkReceived, nvlinkSent           = 20, 21, 60, 61

	memoryBusy  = "nvmlDeviceGetUtilizationRates().memory"
	powerLimit  = "nvmlDeviceGetEnforcedPowerLimit"
	temperature = "nvmlDeviceGetTemperature"
	smClock     = "nvmlDeviceGetClockInfo(SM)"
	memoryClock = "nvmlDeviceGetClockInfo(memory)"
)

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
	values     map[string]uint32
	codes      map[string]Code
	mem        memory
	memCode    Code
	gpmCode    Code
	samples    *fakeSamples
	mig        []migInstance
	asked      map[string]int
	onBusy     func() // called when utilisation is asked
}

func newFakeDevice(id string) *fakeDevice {
	return &fakeDevice{
		id: id,
		values: map[string]uint32{busyTime: 35, powerUsage: 11170, powerLimit: 300000,
			temperature: 40, smClock: 1500, busWidth: 5120, maxMemoryClock: 2619},
		codes: map[string]Code{}, asked: map[string]int{},
		mem:     memory{used: 1 << 30, total: 4 << 30},
		samples: &fakeSamples{percent: map[uint32]float64{smUtil: 80, dramBandwidth: 60, tensorUtil: 20}},
	}
}

func (d *fakeDevice) name() (string, Code) { return "NVIDIA Fake", d.allCodes }
func (d *fakeDevice) uuid() (string, Code) { return d.id, d.allCodes }
func (d *fakeDevice) value(q string) (uint32, Code) {
	d.asked[q]++
	if q == busyTime && d.onBusy != nil {
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
	percent   map[uint32]float64
	takeCode  Code
	taken     []int    // buffers, in order
	compared  [][2]int // older, newer
	allocated int
	freed     int
}

func (s *fakeSamples) take(buffer int) Code {
	s.taken = append(s.taken, buffer)
	return s.takeCode
}
func (s *fakeSamples) metrics(older, newer int) (map[uint32]float64, Code) {
	s.compared = append(s.compared, [2]int{older, newer})
	return s.percent, CodeSuccess
}
func (s *fakeSamples) free() { s.freed++ }
