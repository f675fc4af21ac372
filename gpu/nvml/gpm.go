package nvml

import (
	"math"
	"time"

	"sonde/gpu/common"
	"sonde/probe/opt"
)

// gpmBuffers are two GPM samples of one device (NVML: GPU performance
// monitoring). Metrics are averages between two samples.
type gpmBuffers interface {
	take(buffer int) Code // fills buffer 0 or 1
	metrics(older, newer int, ids []uint32) ([]gpmMetric, Code)
	free()
}

// gpmMetric is one answer: percentages are 0 to 100, each with its own code.
type gpmMetric struct {
	value float64
	code  Code
}

// Metric ids from NVML's nvmlGpmMetricId_t.
const (
	gpmGraphicsUtil   = 1
	gpmSMUtil         = 2
	gpmSMOccupancy    = 3
	gpmAnyTensorUtil  = 5
	gpmDRAMBandwidth  = 10
	gpmPCIeSent       = 20
	gpmPCIeReceived   = 21
	gpmNVLinkReceived = 60 // here what is received comes first
	gpmNVLinkSent     = 61
)

var gpmIDs = []uint32{gpmGraphicsUtil, gpmSMUtil, gpmSMOccupancy, gpmAnyTensorUtil, gpmDRAMBandwidth,
	gpmPCIeSent, gpmPCIeReceived, gpmNVLinkReceived, gpmNVLinkSent}

// gpmValues are ratios, 0 to 1, and bytes/s.
type gpmValues struct {
	graphics, sm, occupancy, tensor, dram opt.Float

	pcieSent, pcieReceived, nvlinkSent, nvlinkReceived opt.Float

	complete bool // two samples were there to compare
}

const (
	// gpmMinSpacing: samples have to be more than 100 ms apart, because the
	// counters are refreshed that often (nvml.h).
	gpmMinSpacing = 150 * time.Millisecond
	// gpmMaxSpacing: an average over a longer gap says nothing about now.
	gpmMaxSpacing = 15 * time.Second
)

// gpm turns samples into values: each poll costs one sample and gives the average
// since the poll before, without gaps.
type gpm struct {
	buffers gpmBuffers
	newest  int       // buffer with the newest sample
	at      time.Time // of that sample; zero: nothing to compare with
	last    gpmValues
	stopped Code // a lasting refusal: not retried until the next enumeration
}

// poll gives no values on the first call, and the previous ones when called again
// too early.
func (g *gpm) poll() (gpmValues, Code) {
	now := time.Now()
	since := now.Sub(g.at)
	switch {
	case g.stopped != CodeSuccess:
		return gpmValues{}, g.stopped
	case !g.at.IsZero() && since < gpmMinSpacing:
		return g.last, CodeSuccess
	}
	older, newer := g.newest, 1-g.newest
	if c := g.buffers.take(newer); c != CodeSuccess {
		g.at = time.Time{} // what comes after an error starts anew
		if c.lasting() || c == CodeOperatingSystem {
			g.stopped = c
		}
		return gpmValues{}, c
	}
	comparable := !g.at.IsZero() && since <= gpmMaxSpacing
	g.newest, g.at, g.last = newer, now, gpmValues{}
	if !comparable {
		return g.last, CodeSuccess
	}
	found, c := g.buffers.metrics(older, newer, gpmIDs)
	if c == CodeSuccess {
		g.last = newGPMValues(found)
	}
	return g.last, c
}

func newGPMValues(found []gpmMetric) gpmValues {
	value := func(id uint32) opt.Float {
		for i, m := range found {
			if gpmIDs[i] == id && m.code == CodeSuccess && !math.IsNaN(m.value) && m.value >= 0 {
				return opt.Of(m.value)
			}
		}
		return opt.Float{}
	}
	percent := func(id uint32) opt.Float {
		v := value(id)
		v.V /= 100
		return v
	}
	bytes := func(id uint32) opt.Float { return value(id).Scale(common.MiB) } // rates are MiB/s
	return gpmValues{
		graphics:  percent(gpmGraphicsUtil),
		sm:        percent(gpmSMUtil),
		occupancy: percent(gpmSMOccupancy),
		tensor:    percent(gpmAnyTensorUtil),
		dram:      percent(gpmDRAMBandwidth),
		pcieSent:  bytes(gpmPCIeSent), pcieReceived: bytes(gpmPCIeReceived),
		nvlinkSent: bytes(gpmNVLinkSent), nvlinkReceived: bytes(gpmNVLinkReceived),
		complete: true,
	}
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
