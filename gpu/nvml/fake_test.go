//go:build linux && (amd64 || arm64) && !static

package nvml

import ()

// Ids of NVML's nvmlGpmMetricId_t, and names that gpu.Reading.Fill has.
const (
	graphicsUtil, smUtil, smOccupancy, tensorUtil, dramBandwidth = 1, 2, 3, 5, 10
	pcieSent, pcieReceived, nvlinkReceived, nvlinkSent           = 20, 21, 60, 61

	codeNotFound Code = 6

	memoryBusy  = "nvmlDeviceGetUtilizationRates().memory"
	powerLimit  = "nvmlDeviceGetEnforcedPowerLimit"
	temperature = "nvmlDeviceGetTemperature"
	smClock     = "nvmlDeviceGetClockInfo(SM)"
	memoryClock = "nvmlDeviceGetClockInfo(memory)"
)

// fakeDriver and fakeDevice are a driver in which every answer can be set and every
// question about a value is counted.
type fakeDriver struct {
	initCode Code
	downs    int
	devices  []*fakeDevice
	samples  []*fakeSample // by handle, which begins at 1
}

func (d *fakeDriver) init() Code         { return d.initCode }
func (d *fakeDriver) shutdown()          { d.downs++ }
func (d *fakeDriver) count() (int, Code) { return len(d.devices), CodeSuccess }
func (d *fakeDriver) device(i int) (device, Code) {
	dev := d.devices[i]
	for _, of := range append([]*fakeDevice{dev}, dev.mig...) {
		if of != nil {
			of.driver = d
		}
	}
	return dev, dev.handleCode
}

func (d *fakeDriver) newSample() (gpmSample, Code) {
	d.samples = append(d.samples, &fakeSample{})
	return gpmSample(len(d.samples)), CodeSuccess
}
func (d *fakeDriver) freeSample(s gpmSample) { d.samples[s-1].freed++ }

func (d *fakeDriver) compare(first, second gpmSample, metrics []gpmMetric) Code {
	older, newer := d.samples[first-1], d.samples[second-1]
	s := newer.of
	s.compared = append(s.compared, [2]int{older.number, newer.number})
	for i := range metrics {
		m := &metrics[i]
		percent, has := s.percent[m.id]
		if m.value = percent; !has {
			m.code = uint32(CodeNotSupported)
		}
	}
	return CodeSuccess
}

type memory struct{ used, total uint64 }

type fakeDevice struct {
	driver     *fakeDriver
	id         string
	handleCode Code
	allCodes   Code // of every other call
	values     map[string]uint32
	codes      map[string]Code
	mem        memory
	memCode    Code
	gpmCode    Code
	samples    *fakeSamples
	number     int           // of a MIG instance
	mig        []*fakeDevice // slots; nil for an empty one
	asked      map[string]int
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

func (d *fakeDevice) value(query string) (uint32, Code) {
	d.asked[query]++
	if d.allCodes != CodeSuccess {
		return 0, d.allCodes
	}
	return d.values[query], d.codes[query]
}

func (d *fakeDevice) memory() (used, total uint64, c Code) {
	if d.allCodes != CodeSuccess {
		return 0, 0, d.allCodes
	}
	return d.mem.used, d.mem.total, d.memCode
}

func (d *fakeDevice) migSlots() (int, Code) { return len(d.mig), CodeSuccess }
func (d *fakeDevice) migDevice(slot int) (device, Code) {
	if d.mig[slot] == nil {
		return nil, codeNotFound
	}
	return d.mig[slot], CodeSuccess
}
func (d *fakeDevice) instance() (int, Code) { return d.number, CodeSuccess }

func (d *fakeDevice) hasGPM() (bool, Code)    { return true, d.gpmCode }
func (d *fakeDevice) sample(s gpmSample) Code { return d.samples.take(d.driver.samples[s-1]) }
func (d *fakeDevice) sampleInstance(instance int, s gpmSample) Code {
	for _, part := range d.mig {
		if part != nil && part.number == instance {
			return part.samples.take(d.driver.samples[s-1])
		}
	}
	return codeNotFound
}

// fakeSamples are what a device was asked for, and the metrics between any two samples.
type fakeSamples struct {
	percent  map[uint32]float64
	takeCode Code
	used     []*fakeSample
	taken    []int    // samples, in order
	compared [][2]int // older, newer
}

// freed counts the samples that were given back.
func (s *fakeSamples) freed() (n int) {
	for _, sample := range s.used {
		n += sample.freed
	}
	return n
}

func (s *fakeSamples) take(sample *fakeSample) Code {
	if sample.of == nil {
		sample.of, sample.number = s, len(s.used)
		s.used = append(s.used, sample)
	}
	s.taken = append(s.taken, sample.number)
	return s.takeCode
}

type fakeSample struct {
	of     *fakeSamples
	number int
	freed  int
}
