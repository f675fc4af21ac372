package serve

import (
	"fmt"
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/sim/core"
)

// hardware publishes the simulated GPUs as a DCGM exporter would: its names,
// labels and units (ratios 0 to 1, per cent, MiB, W, °C, MHz).
type hardware struct {
	setup    *core.Setup
	snapshot func() core.Snapshot
	counters []hardwareCounter
}

type hardwareCounter struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*core.GPUState) float64
}

var gpuLabels = []string{"gpu", "UUID", "device", "modelName", "Hostname"}

func newHardware(s *core.Setup, snap func() core.Snapshot) *prometheus.Registry {
	h := &hardware{setup: s, snapshot: snap}
	add := func(name, help string, value func(*core.GPUState) float64) {
		h.counters = append(h.counters, hardwareCounter{prometheus.NewDesc(name, help, gpuLabels, nil), prometheus.GaugeValue, value})
	}
	add("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time a kernel was running.", func(b *core.GPUState) float64 { return b.Busy })
	add("DCGM_FI_PROF_SM_ACTIVE", "Ratio of SM time with a warp resident.", func(b *core.GPUState) float64 { return b.Sm })
	add("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles of the tensor cores.", func(b *core.GPUState) float64 { return b.Tensor })
	add("DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of the memory bandwidth peak.", func(b *core.GPUState) float64 { return b.Dram })
	add("DCGM_FI_DEV_GPU_UTIL", "Share of time a kernel was running (in %).", func(b *core.GPUState) float64 { return math.Round(100 * b.Busy) })
	add("DCGM_FI_DEV_MEM_COPY_UTIL", "Share of time memory was accessed (in %).", func(b *core.GPUState) float64 { return math.Round(100 * b.Dram) })
	add("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", func(b *core.GPUState) float64 { return math.Round(b.Machine.Watts(b.Activity)) })
	add("DCGM_FI_DEV_POWER_MGMT_LIMIT", "Power limit (in W).", func(b *core.GPUState) float64 { return b.Machine.MaxWatts })
	add("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", (*core.GPUState).Celsius)
	add("DCGM_FI_DEV_SM_CLOCK", "SM clock (in MHz).", func(b *core.GPUState) float64 { return math.Round(b.Machine.ClockMHz * b.Machine.Clock) })
	add("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why the clock is lower than it could be (bit mask).", (*core.GPUState).ThrottleReasons)
	add("DCGM_FI_DEV_XID_ERRORS", "Last Xid error.", func(*core.GPUState) float64 { return 0 })
	add("DCGM_FI_DEV_FB_USED", "Memory used (in MiB).", func(b *core.GPUState) float64 { return core.Mib(b.MemoryUsed) })
	add("DCGM_FI_DEV_FB_FREE", "Memory free (in MiB).", func(b *core.GPUState) float64 { return core.Mib(b.Machine.Peaks.Memory - b.MemoryUsed) })
	add("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy since start (in mJ).", func(b *core.GPUState) float64 { return math.Round(1000 * b.Joules) })
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
	b := core.GPUState{Activity: now.Activity, Machine: now.GPU, MemoryUsed: h.setup.MemoryUsed(), Joules: now.Joules}
	n := h.setup.Machine.Gpus
	for i := range n {
		h.collect(out, &b, i)
	}
	if h.setup.Disaggregated {
		b.Activity, b.Joules = now.Prefill, now.PrefillJoules
		for i := range n {
			h.collect(out, &b, n+i)
		}
	}
}

func (h *hardware) collect(out chan<- prometheus.Metric, b *core.GPUState, i int) {
	index := strconv.Itoa(i)
	uuid := fmt.Sprintf("GPU-51d0e000-0000-4000-%04x-%012d", h.setup.Instance, i)
	labels := []string{index, uuid, "sim" + index, h.setup.DeviceName(), serverName}
	for _, c := range h.counters {
		out <- prometheus.MustNewConstMetric(c.desc, c.kind, c.value(b), labels...)
	}
}
