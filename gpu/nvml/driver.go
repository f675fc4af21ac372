//go:build linux && (amd64 || arm64) && !static

package nvml

// driver is what this package uses of the driver's library. A function that the
// installed library lacks answers CodeFunctionNotFound.
type driver interface {
	init() Code
	shutdown()
	count() (int, Code)
	device(index int) (device, Code)

	newSample() (gpmSample, Code)
	freeSample(gpmSample)
	// compare sets the value and the code of each metric between two samples.
	compare(older, newer gpmSample, metrics []gpmMetric) Code
}

// device is a GPU or a MIG instance.
type device interface {
	name() (string, Code)
	uuid() (string, Code)
	// value makes one of the queries. The answer is in the driver's unit.
	value(query string) (uint32, Code)
	// memory is in bytes.
	memory() (used, total uint64, c Code)

	migSlots() (int, Code)
	migDevice(slot int) (device, Code)
	// instance is the number of a MIG instance on the whole GPU.
	instance() (int, Code)

	hasGPM() (bool, Code)
	sample(gpmSample) Code
	// sampleInstance samples one instance of this GPU.
	sampleInstance(instance int, s gpmSample) Code
}

// instances are the occupied MIG slots of a GPU, by the number of their GPU instance: of
// compute instances that share it the first. The slots have gaps, and neither a gap nor a
// refusal on the GPU hides the other ones.
func instances(d device) map[int]device {
	slots, c := d.migSlots()
	if c != CodeSuccess {
		return nil
	}
	found := map[int]device{}
	for i := range slots {
		part, c := d.migDevice(i)
		if c != CodeSuccess {
			continue
		}
		id, c := part.instance()
		if c == CodeSuccess && found[id] == nil {
			found[id] = part
		}
	}
	return found
}
