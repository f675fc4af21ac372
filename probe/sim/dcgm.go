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
}

type hardwareCounter struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*gpuState) float64
}

var gpuLabels = []string{"gpu", "UUID", "device", "modelName", "Hostname"}

func newHardware(s *setup, snap func() snapshot) *prometheus.Registry {
	h := &hardware{setup: s, snapshot: snap}
	add := func(name, help string, value func(*gpuState) float64) {
		h.counters = append(h.counters, hardwareCounter{prometheus.NewDesc(name, help, gpuLabels, nil), prometheus.GaugeValue, value})
	}
	add("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time a kernel was running.", func(b *gpuState) float64 { return b.busy })
	add("DCGM_FI_PROF_SM_ACTIVE", "Ratio of SM time with a warp resident.", func(b *gpuState) float64 { return b.sm })
	add("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles of the tensor cores.", func(b *gpuState) float64 { return b.tensor })
	add("DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of the memory bandwidth peak.", func(b *gpuState) float64 { return b.dram })
	add("DCGM_FI_DEV_GPU_UTIL", "Share of time a kernel was running (in %).", func(b *gpuState) float64 { return math.Round(100 * b.busy) })
	add("DCGM_FI_DEV_MEM_COPY_UTIL", "Share of time memory was accessed (in %).", func(b *gpuState) float64 { return math.Round(100 * b.dram) })
	add("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", func(b *gpuState) float64 { return math.Round(b.machine.watts(b.activity)) })
	add("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit (in W).", func(b *gpuState) float64 { return b.machine.maxWatts })
	add("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", (*gpuState).celsius)
	add("DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz).", func(b *gpuState) float64 { return math.Round(b.machine.clockMHz * b.machine.clock) })
	add("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why the clock is lower than it could be (bit mask).", (*gpuState).throttleReasons)
	add("DCGM_FI_DEV_XID_ERRORS", "Last Xid error.", func(*gpuState) float64 { return 0 })
	add("DCGM_FI_DEV_FB_USED", "Memory used (in MiB).", func(b *gpuState) float64 { return mib(b.memoryUsed) })
	add("DCGM_FI_DEV_FB_FREE", "Memory free (in MiB).", func(b *gpuState) float64 { return mib(b.machine.memory - b.memoryUsed) })
	add("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy since start (in mJ).", func(b *gpuState) float64 { return math.Round(1000 * b.joules) })
	h.counters[len(h.counters)-1].kind = prometheus.CounterValue
	reg := prometheus.NewRegistry()
	reg.MustRegister(h)
	return reg
}

// Describe implements prometheus.Collector.
func (h *hardware) Describe(out chan<- *prometheus.Desc) {
	for _, c := range h.counters {
		out <- c.desc
	}
}

// Collect implements prometheus.Collector. GPUs of a tensor parallel group do the
// same at the same time; those that only read prompts come last.
func (h *hardware) Collect(out chan<- prometheus.Metric) {
	now := h.snapshot()
	b := gpuState{activity: now.activity, machine: now.gpu, memoryUsed: h.setup.memoryUsed(), joules: now.joules}
	n := h.setup.machine.gpus
	for i := range n {
		h.collect(out, &b, i)
	}
	if h.setup.Disaggregated {
		b.activity, b.joules = now.prefill, now.prefillJoules
		for i := range n {
			h.collect(out, &b, n+i)
		}
	}
}

func (h *hardware) collect(out chan<- prometheus.Metric, b *gpuState, i int) {
	index := strconv.Itoa(i)
	uuid := fmt.Sprintf("GPU-51d0e000-0000-4000-%04x-%012d", h.setup.instance, i)
	labels := []string{index, uuid, "sim" + index, h.setup.deviceName(), serverName}
	for _, c := range h.counters {
		out <- prometheus.MustNewConstMetric(c.desc, c.kind, c.value(b), labels...)
	}
}

// deviceName says that the device is simulated, and how far it is from the real
// one: at another speed the real one's peaks do not apply.
func (s *setup) deviceName() string {
	name := "simulated " + s.machine.driverName
	if s.Speed != 1 {
		name += fmt.Sprintf(" at %gx speed", s.Speed)
	}
	return name
}
