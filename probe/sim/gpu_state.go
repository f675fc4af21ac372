package sim

import "math"

// gpuState is what one GPU does at a moment.
type gpuState struct {
	activity
	machine    machine // under the conditions of the moment
	memoryUsed float64 // bytes
	joules     float64 // since the start
}

// watts rises from idle to the board's limit with memory traffic and
// arithmetic. The weights are ours: streaming memory alone draws 60 % of the
// range, the arithmetic of a prefill 85 %, both at once reach the limit.
func (m *machine) watts(a activity) float64 {
	load := 0.6*a.dram/streamingShare + 0.85*a.tensor/m.flopsShare*m.clock
	return m.idleWatts + (m.maxWatts-m.idleWatts)*min(1, load)
}

// celsius goes with power, from 34 °C idle to 74 °C at the limit, without the
// lag of a real heat sink. A GPU that lowers its clock is hot whatever it draws.
func (b *gpuState) celsius() float64 {
	const slowdown = 88 // °C
	if b.machine.clock < 1 {
		return slowdown
	}
	m := &b.machine
	return math.Round(34 + 40*(m.watts(b.activity)-m.idleWatts)/(m.maxWatts-m.idleWatts))
}

// throttleReasons are the bits of nvmlDeviceGetCurrentClocksEventReasons that apply.
func (b *gpuState) throttleReasons() float64 {
	const idle, softwareThermal = 0x1, 0x20
	switch {
	case b.machine.clock < 1:
		return softwareThermal
	case b.busy == 0:
		return idle
	}
	return 0
}

// memoryUsed is per GPU: its part of the weights and of the KV cache, which
// engines reserve at start, and the driver's own 1.5 GB.
func (s *setup) memoryUsed() float64 {
	const driverBytes = 1.5e9
	kv := float64(s.kvTokens()) * s.shape.kvBytesPerToken() * s.machine.kvReplicas(&s.shape)
	return (s.shape.weightBytes()+kv)/float64(s.machine.gpus) + driverBytes
}

func mib(bytes float64) float64 { return math.Round(bytes / (1 << 20)) }
