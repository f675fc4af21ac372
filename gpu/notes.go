package gpu

import (
	"fmt"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/plain"
)

// Clean makes text from a driver or an exporter safe to show.
func Clean(s string) string { return plain.Line(s, 120) }

// AMDName is a model as AMD's tools and exporter write it, with the maker's name; "" is a
// model that is unknown.
func AMDName(model string) string {
	switch {
	case model == "":
		return "AMD GPU"
	case strings.Contains(strings.ToLower(model), "amd"):
		return model
	}
	return "AMD " + model
}

// Join puts notes into one line, without the empty ones.
func Join(notes ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return n == "" }), "; ")
}

// resetXids are the Xid codes after which a GPU needs a reset or the machine a
// reboot. Most other codes are faults of an application.
var resetXids = map[int]bool{48: true, 62: true, 64: true, 74: true, 79: true, 95: true, 119: true, 120: true}

// NeedsReset reports whether a GPU with that Xid has to be reset.
func NeedsReset(xid int) bool { return resetXids[xid] }

// XidNote describes a fault that needs a reset; "" for any other.
func XidNote(xid int, description string, lost bool) string {
	if !resetXids[xid] {
		return ""
	}
	text := fmt.Sprintf("last fault: Xid %d", xid)
	if lost {
		text = fmt.Sprintf("GPU lost: Xid %d", xid)
	}
	if description != "" {
		text += " (" + description + ")"
	}
	return text
}

// slowReasons are the bits by which NVML, and exporters after it, name what holds the
// clocks down (nvmlClocksEventReasons). Idle clocks and clocks set by hand are not
// faults.
var slowReasons = []struct {
	bit  uint32
	name string
}{
	{0x4, "the power limit"}, {0x8, "a hardware slowdown"}, {0x20, "temperature (software)"},
	{0x40, "temperature (hardware)"}, {0x80, "the power brake"}, {0x10, "the slowest GPU of its group"},
}

// heatReasons are the bits of slowReasons that stand for temperature.
const heatReasons = 0x20 | 0x40

// SlowedBy files what holds the clocks down and returns a note that names it; "" if nothing
// does, or it is unknown.
func (r *Reading) SlowedBy(mask opt.Float) (note string) {
	if !mask.OK || mask.V < 0 || mask.V >= 1<<32 {
		return ""
	}
	r.Overheated = uint32(mask.V)&heatReasons != 0
	var names []string
	for _, reason := range slowReasons {
		if uint32(mask.V)&reason.bit != 0 {
			names = append(names, reason.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "clocks held down by " + strings.Join(names, ", ")
}
