//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"strings"
	"time"

	"sonde/probe/opt"
)

const (
	gpmGraphics = "GPM GRAPHICS_UTIL"
	perSecond   = "_PER_SEC" // ends the names of rates
)

// gpmIDs are the ids (nvmlGpmMetricId_t) behind the names that gpu.Reading.Fill has
// for a quantity. The values are percentages, 0 to 100, and MiB/s.
var gpmIDs = map[string]uint32{
	gpmGraphics: 1, "GPM SM_UTIL": 2, "GPM SM_OCCUPANCY": 3, "GPM ANY_TENSOR_UTIL": 5, "GPM DRAM_BW_UTIL": 10,
	"GPM PCIE_TX_PER_SEC": 20, "GPM PCIE_RX_PER_SEC": 21, "GPM NVLINK_TOTAL_RX_PER_SEC": 60, "GPM NVLINK_TOTAL_TX_PER_SEC": 61,
}

const (
	// gpmMinSpacing: samples have to be more than 100 ms apart, because the
	// counters are refreshed that often (nvml.h).
	gpmMinSpacing = 150 * time.Millisecond
	// gpmMaxSpacing: an average over a longer gap says nothing about now.
	gpmMaxSpacing = 15 * time.Second
)

// gpm turns samples of a unit (NVML: GPU performance monitoring) into values: each poll
// costs one sample and gives the average since the poll before, without gaps.
type gpm struct {
	unit    *unit
	samples [2]gpmSample
	newest  int       // of the samples
	at      time.Time // of that sample; zero: nothing to compare with
	last    gpmValues
	stopped Code // a lasting refusal: not retried until the next enumeration
}

// gpmValues are the metrics by id; nil while there are no two samples to compare.
type gpmValues map[uint32]float64

// newGPM allocates the samples of a unit. That the library has the functions says nothing
// about the device, which is queried. A MIG instance samples through the whole GPU.
func newGPM(u *unit) (*gpm, Code) {
	whole := u.device
	if u.parent != "" {
		whole = u.whole
	}
	supported, c := whole.hasGPM()
	switch {
	case c != CodeSuccess:
		return nil, c
	case !supported:
		return nil, CodeNotSupported
	}
	g := &gpm{unit: u}
	for i := range g.samples {
		s, c := u.driver.newSample()
		if c != CodeSuccess {
			g.free()
			return nil, c
		}
		g.samples[i] = s
	}
	return g, CodeSuccess
}

func (g *gpm) free() {
	for _, s := range g.samples {
		if s != 0 {
			g.unit.driver.freeSample(s)
		}
	}
}

func (g *gpm) take(s gpmSample) Code {
	if g.unit.parent != "" {
		return g.unit.whole.sampleInstance(g.unit.instance, s)
	}
	return g.unit.device.sample(s)
}

// metrics are the values between two samples that the device has.
func (g *gpm) metrics(older, newer gpmSample) (gpmValues, Code) {
	metrics := make([]gpmMetric, 0, len(gpmIDs))
	for _, id := range gpmIDs {
		metrics = append(metrics, gpmMetric{id: id})
	}
	if c := g.unit.driver.compare(older, newer, metrics); c != CodeSuccess {
		return nil, c
	}
	found := gpmValues{}
	for _, m := range metrics {
		if Code(m.code) == CodeSuccess {
			found[m.id] = m.value
		}
	}
	return found, CodeSuccess
}

// poll gives no values on the first call, and the previous ones when called again
// too early.
func (g *gpm) poll() (gpmValues, Code) {
	now := time.Now()
	since := now.Sub(g.at)
	switch {
	case g.stopped != CodeSuccess:
		return nil, g.stopped
	case !g.at.IsZero() && since < gpmMinSpacing:
		return g.last, CodeSuccess
	}
	older, newer := g.newest, 1-g.newest
	if c := g.take(g.samples[newer]); c != CodeSuccess {
		g.at = time.Time{} // after an error the comparison starts over
		if c.lasting() || c == CodeOperatingSystem {
			g.stopped = c
		}
		return nil, c
	}
	comparable := !g.at.IsZero() && since <= gpmMaxSpacing
	g.newest, g.at, g.last = newer, now, nil
	if !comparable {
		return nil, CodeSuccess
	}
	found, c := g.metrics(g.samples[older], g.samples[newer])
	g.last = found
	return found, c
}

// value is a share or bytes/s.
func (v gpmValues) value(name string) opt.Float {
	x, ok := v[gpmIDs[name]]
	switch {
	case !ok || x < 0:
		return opt.Float{}
	case strings.HasSuffix(name, perSecond):
		return opt.Of(x * (1 << 20))
	}
	return opt.Of(x / 100)
}

// whyNoGPM says what would bring SM and DRAM activity.
func whyNoGPM(c Code) string {
	const what = "SM and DRAM: "
	switch {
	case c == CodeNotSupported:
		return what + "needs Hopper or newer, or DCGM"
	case c == CodeFunctionNotFound:
		return what + "needs a newer driver (R520), or DCGM"
	case c == CodeNoPermission || c == CodeOperatingSystem:
		return what + "no permission for the GPU's counters: run as root, or set NVreg_RestrictProfilingToAdminUsers=0"
	}
	return what + c.Error()
}
