package sim

import (
	"fmt"
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// hardware publishes the simulated GPUs as a DCGM exporter would: its names,
// labels and units (ratios 0 to 1, per cent, MiB, W, °C, MHz).
type hardware struct {
	setup    *setup
	snapshot func() snapshot
	counters []hardwareCounter
	energy   *prometheus.Desc
}

type hardwareCounter struct {
	desc  *prometheus.Desc
	value func(*setup, activity) float64
}

var gpuLabels = []string{"gpu", "UUID", "device", "modelName", "Hostname"}

func newHardware(s *setup, snap func() snapshot) *prometheus.Registry {
	h := &hardware{setup: s, snapshot: snap}
	add := func(name, help string, value func(*setup, activity) float64) {
		h.counters = append(h.counters, hardwareCounter{prometheus.NewDesc(name, help, gpuLabels, nil), value})
	}
	add("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time a kernel was running.", func(_ *setup, a activity) float64 { return a.busy })
	add("DCGM_FI_PROF_SM_ACTIVE", "Ratio of SM time with a warp resident.", func(_ *setup, a activity) float64 { return a.sm })
	add("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of the tensor peak.", func(_ *setup, a activity) float64 { return a.tensor })
	add("DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of the memory bandwidth peak.", func(_ *setup, a activity) float64 { return a.dram })
	add("DCGM_FI_DEV_GPU_UTIL", "Share of time a kernel was running (in %).", func(_ *setup, a activity) float64 { return math.Round(100 * a.busy) })
	add("DCGM_FI_DEV_MEM_COPY_UTIL", "Share of time memory was accessed (in %).", func(_ *setup, a activity) float64 { return math.Round(100 * a.dram) })
	add("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", func(s *setup, a activity) float64 { return math.Round(s.machine.watts(a)) })
	add("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit (in W).", func(s *setup, _ activity) float64 { return s.machine.maxWatts })
	add("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", celsius)
	add("DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz).", func(s *setup, _ activity) float64 { return s.machine.clockMHz })
	add("DCGM_FI_DEV_FB_USED", "Memory used (in MiB).", func(s *setup, _ activity) float64 { return mib(s.memoryUsed()) })
	add("DCGM_FI_DEV_FB_FREE", "Memory free (in MiB).", func(s *setup, _ activity) float64 { return mib(s.machine.memory - s.memoryUsed()) })
	h.energy = prometheus.NewDesc("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy since start (in mJ).", gpuLabels, nil)
	reg := prometheus.NewRegistry()
	reg.MustRegister(h)
	return reg
}

// Describe implements prometheus.Collector.
func (h *hardware) Describe(out chan<- *prometheus.Desc) {
	for _, c := range h.counters {
		out <- c.desc
	}
	out <- h.energy
}

// Collect implements prometheus.Collector. GPUs of a tensor parallel group do
// the same at the same time.
func (h *hardware) Collect(out chan<- prometheus.Metric) {
	now := h.snapshot()
	model := h.setup.deviceName()
	for i := range h.setup.machine.gpus {
		index := strconv.Itoa(i)
		uuid := fmt.Sprintf("GPU-51d0e000-0000-4000-%04x-%012d", h.setup.instance, i)
		labels := []string{index, uuid, "sim" + index, model, serverName}
		for _, c := range h.counters {
			out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, c.value(h.setup, now.activity), labels...)
		}
		out <- prometheus.MustNewConstMetric(h.energy, prometheus.CounterValue, math.Round(1000*now.joules), labels...)
	}
}

// deviceName says that the device is simulated, and how far it is from the real
// one: at another speed the real one's peaks do not apply.
func (s *setup) deviceName() string {
	name := "simulated " + s.machine.driverName
	if s.speed != 1 {
		name += fmt.Sprintf(" at %gx speed", s.speed)
	}
	return name
}

// watts rises from idle to the board's limit with memory traffic and
// arithmetic. The weights are ours: streaming memory alone draws 60 % of the
// range, the arithmetic of a prefill 85 %, both at once reach the limit.
func (m *machine) watts(a activity) float64 {
	load := 0.6*a.dram/streamingShare + 0.85*a.tensor/m.flopsShare*m.clock
	return m.idleWatts + (m.maxWatts-m.idleWatts)*min(1, load)
}

// celsius goes with power, from 34 °C idle to 74 °C at the limit, without the
// lag of a real heat sink.
func celsius(s *setup, a activity) float64 {
	m := &s.machine
	return math.Round(34 + 40*(m.watts(a)-m.idleWatts)/(m.maxWatts-m.idleWatts))
}

// memoryUsed is per GPU: its part of the weights and of the KV cache, which
// engines reserve at start, and the driver's own 1.5 GB.
func (s *setup) memoryUsed() float64 {
	const driverBytes = 1.5e9
	kv := float64(s.kvTokens()) * s.shape.kvBytesPerToken() * s.machine.kvReplicas(&s.shape)
	return (s.shape.weightBytes()+kv)/float64(s.machine.gpus) + driverBytes
}

func mib(bytes float64) float64 { return math.Round(bytes / (1 << 20)) }
