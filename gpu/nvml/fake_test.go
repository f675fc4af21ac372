//go:build linux && cgo

package nvml

import (
	binding "github.com/NVIDIA/go-nvml/pkg/nvml"
)

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

// fakeDriver and fakeDevice are a driver in which every answer can be set and every
// question about a value is counted. A call that they lack panics.
type fakeDriver struct {
	binding.Interface
	initCode Code
	downs    int
	devices  []*fakeDevice
}

func (d *fakeDriver) Init() binding.Return                  { return binding.Return(d.initCode) }
func (d *fakeDriver) Shutdown() binding.Return              { d.downs++; return binding.SUCCESS }
func (d *fakeDriver) Extensions() binding.ExtendedInterface { return d }
func (d *fakeDriver) LookupSymbol(string) error             { return nil }
func (d *fakeDriver) DeviceGetCount() (int, binding.Return) { return len(d.devices), binding.SUCCESS }
func (d *fakeDriver) DeviceGetHandleByIndex(i int) (binding.Device, binding.Return) {
	return d.devices[i], binding.Return(d.devices[i].handleCode)
}
func (d *fakeDriver) GpmSampleAlloc() (binding.GpmSample, binding.Return) {
	return &fakeSample{}, binding.SUCCESS
}
func (d *fakeDriver) GpmMetricsGet(request *binding.GpmMetricsGetType) binding.Return {
	older, newer := request.Sample1.(*fakeSample), request.Sample2.(*fakeSample)
	s := newer.of
	s.compared = append(s.compared, [2]int{older.number, newer.number})
	for i := range request.Metrics[:request.NumMetrics] {
		m := &request.Metrics[i]
		percent, has := s.percent[m.MetricId]
		if m.Value = percent; !has {
			m.NvmlReturn = uint32(CodeNotSupported)
		}
	}
	return binding.SUCCESS
}

type memory struct{ used, total uint64 }

type fakeDevice struct {
	binding.Device
	id         string
	handleCode Code
	allCodes   Code // of every other call
	values     map[string]uint32
	codes      map[string]Code
	mem        memory
	memCode    Code
	gpmCode    Code
	samples    *fakeSamples
	instance   int           // its number, of a MIG instance
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

func (d *fakeDevice) value(q string) (uint32, binding.Return) {
	d.asked[q]++
	if d.allCodes != CodeSuccess {
		return 0, binding.Return(d.allCodes)
	}
	return d.values[q], binding.Return(d.codes[q])
}

func (d *fakeDevice) mask(q string) (uint64, binding.Return) {
	v, r := d.value(q)
	return uint64(v), r
}

func (d *fakeDevice) GetName() (string, binding.Return) {
	return "NVIDIA Fake", binding.Return(d.allCodes)
}
func (d *fakeDevice) GetUUID() (string, binding.Return)       { return d.id, binding.Return(d.allCodes) }
func (d *fakeDevice) GetPowerUsage() (uint32, binding.Return) { return d.value(powerUsage) }
func (d *fakeDevice) GetEnforcedPowerLimit() (uint32, binding.Return) {
	return d.value(powerLimit)
}
func (d *fakeDevice) GetMemoryBusWidth() (uint32, binding.Return) { return d.value(busWidth) }
func (d *fakeDevice) GetCurrentClocksEventReasons() (uint64, binding.Return) {
	return d.mask(clockReasons)
}
func (d *fakeDevice) GetTemperature(binding.TemperatureSensors) (uint32, binding.Return) {
	return d.value(temperature)
}
func (d *fakeDevice) GetMaxClockInfo(binding.ClockType) (uint32, binding.Return) {
	return d.value(maxMemoryClock)
}
func (d *fakeDevice) GetClockInfo(kind binding.ClockType) (uint32, binding.Return) {
	if kind == binding.CLOCK_MEM {
		return d.value(memoryClock)
	}
	return d.value(smClock)
}
func (d *fakeDevice) GetUtilizationRates() (binding.Utilization, binding.Return) {
	busy, r := d.value(busyTime)
	return binding.Utilization{Gpu: busy, Memory: d.values[memoryBusy]}, r
}
func (d *fakeDevice) GetMemoryInfo_v2() (binding.Memory_v2, binding.Return) {
	if d.allCodes != CodeSuccess {
		return binding.Memory_v2{}, binding.Return(d.allCodes)
	}
	return binding.Memory_v2{Used: d.mem.used, Total: d.mem.total}, binding.Return(d.memCode)
}

func (d *fakeDevice) GetMaxMigDeviceCount() (int, binding.Return) { return len(d.mig), binding.SUCCESS }
func (d *fakeDevice) GetMigDeviceHandleByIndex(i int) (binding.Device, binding.Return) {
	if d.mig[i] == nil {
		return nil, binding.ERROR_NOT_FOUND
	}
	return d.mig[i], binding.SUCCESS
}
func (d *fakeDevice) GetGpuInstanceId() (int, binding.Return) { return d.instance, binding.SUCCESS }

func (d *fakeDevice) GpmQueryDeviceSupport() (binding.GpmSupport, binding.Return) {
	return binding.GpmSupport{IsSupportedDevice: 1}, binding.Return(d.gpmCode)
}
func (d *fakeDevice) GpmSampleGet(s binding.GpmSample) binding.Return {
	return d.samples.take(s.(*fakeSample))
}
func (d *fakeDevice) GpmMigSampleGet(instance int, s binding.GpmSample) binding.Return {
	for _, part := range d.mig {
		if part != nil && part.instance == instance {
			return part.samples.take(s.(*fakeSample))
		}
	}
	return binding.ERROR_NOT_FOUND
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

func (s *fakeSamples) take(sample *fakeSample) binding.Return {
	if sample.of == nil {
		sample.of, sample.number = s, len(s.used)
		s.used = append(s.used, sample)
	}
	s.taken = append(s.taken, sample.number)
	return binding.Return(s.takeCode)
}

type fakeSample struct {
	binding.GpmSample
	of     *fakeSamples
	number int
	freed  int
}

func (s *fakeSample) Free() binding.Return { s.freed++; return binding.SUCCESS }
