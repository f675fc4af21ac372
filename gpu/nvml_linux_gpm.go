//go:build linux && cgo

package gpu

import "github.com/NVIDIA/go-nvml/pkg/nvml"

var gpmSymbols = []string{
	"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree",
	"nvmlGpmSampleGet", "nvmlGpmMetricsGet",
}

// gpmSamples are two samples of the library, kept for the life of the device.
type gpmSamples struct {
	handle  *handle
	samples [2]nvml.GpmSample
}

// gpm allocates the samples of a device. That the library has the functions says
// nothing about the device: it is asked. An instance samples through its parent.
func (h *handle) gpm() (gpmBuffers, code) {
	for _, s := range gpmSymbols {
		if !h.library.has(s) {
			return nil, codeFunctionNotFound
		}
	}
	asked := h.dev
	if h.gpuInstance != wholeGPU {
		if asked = h.parent; !h.library.has("nvmlGpmMigSampleGet") {
			return nil, codeFunctionNotFound
		}
	}
	support, r := asked.GpmQueryDeviceSupport()
	switch {
	case r != nvml.SUCCESS:
		return nil, code(r)
	case support.IsSupportedDevice == 0:
		return nil, codeNotSupported
	}
	return h.allocate()
}

func (h *handle) allocate() (gpmBuffers, code) {
	g := &gpmSamples{handle: h}
	for i := range g.samples {
		s, r := nvml.GpmSampleAlloc()
		if r != nvml.SUCCESS {
			g.free()
			return nil, code(r)
		}
		g.samples[i] = s
	}
	return g, codeSuccess
}

func (g *gpmSamples) take(buffer int) code {
	if g.handle.gpuInstance != wholeGPU {
		return code(g.handle.parent.GpmMigSampleGet(g.handle.gpuInstance, g.samples[buffer]))
	}
	return code(g.handle.dev.GpmSampleGet(g.samples[buffer]))
}

func (g *gpmSamples) metrics(older, newer int, ids []uint32) ([]gpmMetric, code) {
	request := nvml.GpmMetricsGetType{
		Sample1: g.samples[older], Sample2: g.samples[newer], NumMetrics: uint32(len(ids)),
	}
	for i, id := range ids {
		request.Metrics[i].MetricId = id
	}
	if r := nvml.GpmMetricsGet(&request); r != nvml.SUCCESS {
		return nil, code(r)
	}
	found := make([]gpmMetric, len(ids))
	for i := range found {
		m := &request.Metrics[i]
		found[i] = gpmMetric{value: m.Value, code: code(m.NvmlReturn)}
	}
	return found, codeSuccess
}

func (g *gpmSamples) free() {
	for i, s := range g.samples {
		if s != nil {
			s.Free()
			g.samples[i] = nil
		}
	}
}
