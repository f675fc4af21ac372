package gpu

import (
	"strings"

	"sonde/probe/opt"
)

// slowReasons are the bits by which NVML, and who repeats it, says what holds the
// clocks down (nvmlClocksEventReasons). Idle clocks and those that somebody has set
// are no fault.
var slowReasons = []struct {
	bit  uint32
	name string
}{
	{0x4, "the power limit"}, {0x8, "a hardware slowdown"}, {0x20, "temperature (software)"},
	{0x40, "temperature (hardware)"}, {0x80, "the power brake"}, {0x10, "the slowest GPU of its group"},
}

// slowedBy says what holds the clocks down; "" if nothing does, or nobody knows.
func slowedBy(mask opt.Float) string {
	if !mask.OK || mask.V < 0 || mask.V >= 1<<32 {
		return ""
	}
	var names []string
	for _, r := range slowReasons {
		if uint32(mask.V)&r.bit != 0 {
			names = append(names, r.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "clocks held down by " + strings.Join(names, ", ")
}
